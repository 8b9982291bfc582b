"""santasim.huggingface on tiny models with random weights; skipped without torch and transformers."""

import unittest

import numpy as np
import santasim

try:
    import torch
    import transformers
    from santasim import huggingface
except ImportError as error:
    raise unittest.SkipTest(f"not installed: {error}") from error

LAYERS = 2


def model_of(kind="Llama", **more):
    """A model of a few thousand weights, the same each time."""
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(
        **{"vocab_size": 97, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": LAYERS,
           "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512, **more})
    return getattr(transformers, f"{kind}ForCausalLM")(config).eval()


def tokens(count, seed=1, batch=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 97, (batch, count), generator=generator)


@torch.no_grad()
def decode(model, prompt, steps, mask=None):
    """Logits of `steps` decode steps behind a prefill of all but the last tokens."""
    mask = torch.ones_like(prompt) if mask is None else mask
    outcome = model(prompt[:, :-steps], attention_mask=mask[:, :-steps], use_cache=True)
    logits = []
    for step in range(prompt.shape[1] - steps, prompt.shape[1]):
        outcome = model(prompt[:, step:step + 1], attention_mask=mask[:, :step + 1],
                        past_key_values=outcome.past_key_values, use_cache=True)
        logits.append(outcome.logits[:, -1])
    return torch.stack(logits).cpu()


class Seen:
    """An observer that keeps everything."""

    def __init__(self):
        self.results = {}
        self.tokens = {}
        self.tensors = {}

    def __call__(self, step):
        self.results[step.layer, step.request, step.step] = step.result
        self.tokens[step.layer, step.request, step.step] = step.tokens
        self.tensors[step.layer, step.request, step.step] = step.query, step.key, step.value


class Attention(unittest.TestCase):
    def setUp(self):
        self.unit = santasim.Unit("edge-lpddr5")

    def attached(self, model, **more):
        seen = Seen()
        huggingface.attach(model, self.unit, observer=seen, **more)
        return model, seen

    def test_dense_values_are_close_to_the_models_own_attention(self):
        prompt = tokens(60)
        exact = decode(model_of(), prompt, 4)
        golden = decode(self.attached(model_of(), values="dense")[0], prompt, 4)
        error = torch.linalg.norm(golden - exact) / torch.linalg.norm(exact)
        self.assertGreater(error, 0)
        self.assertLess(error, 0.02)

    def test_a_prefill_is_the_models_own(self):
        prompt = tokens(30)
        with torch.no_grad():
            exact = model_of()(prompt).logits
            self.assertTrue(torch.equal(self.attached(model_of())[0](prompt).logits, exact))

    def test_layers_heads_and_steps_draw_on_their_own_and_seeds_repeat(self):
        prompt = tokens(40, batch=2)
        prompt[1] = prompt[0]
        model, first = self.attached(model_of(), samples=16, seed=3)
        logits = decode(model, prompt, 3)
        self.assertEqual(set(first.results), {(layer, request, step) for layer in range(LAYERS)
                                             for request in range(2) for step in range(3)})
        model, again = self.attached(model_of(), samples=16, seed=3)
        self.assertTrue(torch.equal(logits, decode(model, prompt, 3)))
        self.assertTrue(torch.equal(logits, decode(model, prompt, 3)), "a prefill starts anew")
        model, _ = self.attached(model_of(), samples=16, seed=4)
        self.assertFalse(torch.equal(logits, decode(model, prompt, 3)))
        self.assertFalse(np.array_equal(first.results[0, 0, 0].raw_output,
                                        first.results[0, 1, 0].raw_output), "the same text")
        for key, result in first.results.items():
            np.testing.assert_array_equal(result.raw_output, again.results[key].raw_output)

    def test_a_budget_for_each_layer(self):
        model, seen = self.attached(model_of(), samples=[8, 64])
        decode(model, tokens(50), 2)
        for (layer, _, _), result in seen.results.items():
            for counts in result.counts:
                np.testing.assert_array_equal(counts.sum(axis=1), [[8, 64][layer]] * 2)

    def test_padding_is_no_key(self):
        prompt = tokens(40)
        alone = decode(self.attached(model_of(), values="dense")[0], prompt, 3)
        padded = torch.cat([torch.zeros(1, 7, dtype=torch.long), prompt], dim=1)
        mask = (torch.arange(47) >= 7).long()[None]
        both = torch.cat([padded, padded]), 3, torch.cat([torch.ones_like(mask), mask])
        together = decode(self.attached(model_of(), values="dense")[0], *both)
        error = torch.linalg.norm(together[:, 1:] - alone) / torch.linalg.norm(alone)
        self.assertLess(error, 0.02)
        model, seen = self.attached(model_of(), samples=4096)
        decode(model, *both)
        for (_, request, step), result in seen.results.items():
            keys = 45 + step - 7 * request
            self.assertEqual({int(drawn[-1]) for drawn in result.keys}, {keys - 1})

    def test_a_sliding_window_stays(self):
        model, seen = self.attached(model_of("Mistral", sliding_window=12), samples=4096)
        decode(model, tokens(60), 3)
        for result in seen.results.values():
            for keys in result.keys:
                self.assertLess(keys.max(), 12)

    def assert_same_logits(self, first, second):
        """But for a key or query that a last bit of the model's own sums rounds to a neighbour."""
        self.assertLess(torch.linalg.norm(first - second) / torch.linalg.norm(second), 0.01)

    def test_a_sampled_prefill_is_as_decoding_token_by_token(self):
        for kind, more in (("Llama", {}), ("Mistral", {"sliding_window": 12})):
            prompt = tokens(24)
            model, seen = self.attached(model_of(kind, **more), values="dense", prefill="sampled")
            with torch.no_grad():
                whole = model(prompt).logits[0, -4:]
            self.assertEqual(sorted(seen.results), [(layer, 0, step) for layer in range(LAYERS)
                                                    for step in range(24)])
            window = more.get("sliding_window", 24)
            self.assertEqual([seen.tokens[1, 0, step] for step in range(24)],
                             [min(step + 1, window) for step in range(24)])
            model, again = self.attached(model_of(kind, **more), values="dense", prefill="sampled")
            self.assert_same_logits(decode(model, prompt, 4)[:, 0], whole)
            self.assertEqual(seen.tokens, again.tokens)

    def test_a_sampled_prefill_draws_with_the_steps_of_its_tokens(self):
        prompt = tokens(24)
        model, seen = self.attached(model_of(), samples=16, prefill="sampled", seed=5)
        with torch.no_grad():
            model(prompt)
        for (layer, _, step), result in seen.results.items():
            query, key, value = seen.tensors[layer, 0, step]
            alone = self.unit.decode(query, key, value, samples=16, seed=5, layer=layer, step=step)
            np.testing.assert_array_equal(result.raw_output, alone.raw_output)

    def test_a_sampled_prefill_with_padding(self):
        prompt = tokens(12)
        padded = torch.cat([torch.zeros(1, 5, dtype=torch.long), prompt], dim=1)
        mask = (torch.arange(17) >= 5).long()[None]
        model, seen = self.attached(model_of(), values="dense", prefill="sampled")
        with torch.no_grad():
            alone = model(prompt).logits[0]
            position = (torch.arange(17) - 5).clamp(min=0)[None]
            both = model(padded, attention_mask=mask, position_ids=position).logits[0, 5:]
        self.assert_same_logits(both, alone)
        self.assertEqual([seen.tokens[0, 0, step] for step in range(5, 17)], list(range(1, 13)))

    def test_a_prefix_that_was_cached_before_is_kept(self):
        prompt = tokens(30)
        logits = []
        for pieces in ([30], [20, 10]):
            model, seen = self.attached(model_of(), values="dense", prefill="sampled")
            cache = None
            with torch.no_grad():
                for piece in prompt.split(pieces, dim=1):
                    outcome = model(piece, past_key_values=cache, use_cache=True)
                    cache = outcome.past_key_values
            logits.append(outcome.logits[0, -1])
            self.assertEqual([seen.tokens[0, 0, step] for step in range(30)], list(range(1, 31)))
        self.assert_same_logits(*logits)

    def test_generation(self):
        model, _ = self.attached(model_of(), samples=64)
        texts = [model.generate(tokens(20), max_new_tokens=6, do_sample=False, pad_token_id=0)
                 for _ in range(2)]
        self.assertEqual(texts[0].shape, (1, 26))
        self.assertTrue(torch.equal(*texts))

    @torch.no_grad()
    def steps_of(self, model, cache, rows, count=12):
        """Logits of decode steps with tokens of their own."""
        generator = torch.Generator().manual_seed(5)
        chosen = torch.randint(0, 97, (count, 1, 1), generator=generator).expand(count, rows, 1)
        return torch.stack([model(step, past_key_values=cache, use_cache=True).logits[:, -1]
                            for step in chosen])

    def prefilled(self, model, prompt):
        model.set_attn_implementation("sdpa")
        with torch.no_grad():
            return model(prompt, use_cache=True).past_key_values

    def test_a_cache_of_the_unit_changes_no_bit(self):
        for values, scores in (("sys", "exact"), ("strat", "bernoulli-group"), ("dense", "exact")):
            model = model_of()
            start = self.prefilled(model, tokens(30))
            held = huggingface.UnitCache(start, [self.unit])
            model, first = self.attached(model, values=values, scores=scores, samples=16)
            anew = self.steps_of(model, start, 1)
            model, second = self.attached(model, values=values, scores=scores, samples=16)
            self.assertTrue(torch.equal(anew, self.steps_of(model, held, 1)))
            self.assertEqual(first.tokens, second.tokens)
            self.assertEqual(max(first.tokens.values()), 42)
            for place, result in first.results.items():
                np.testing.assert_array_equal(result.raw_output, second.results[place].raw_output)
                for mine, other in zip(first.tensors[place], second.tensors[place]):
                    np.testing.assert_array_equal(mine, other)

    def test_requests_of_a_batch_draw_as_if_they_were_alone(self):
        narrow = santasim.Unit("edge-lpddr5", overrides={"system.key_bits": 4})
        settings = [(self.unit, "sys", "exact", 16, 3), (narrow, "sys", "exact", 16, 3),
                    (self.unit, "dense", "exact", 1, 3), (self.unit, "strat", "bernoulli", 8, 4)]
        model = model_of()
        start = self.prefilled(model, tokens(30))
        seen = [Seen() for _ in settings]
        attentions = [huggingface.Attention(unit, values, scores, samples, 4, seed, observer)
                      for (unit, values, scores, samples, seed), observer in zip(settings, seen)]

        def together(order, idle):
            huggingface.attach_each(model, [attentions[place] for place in order])
            cache = huggingface.UnitCache(start, [settings[place][0] for place in order])
            for row in idle:
                cache.stop(row)
            return self.steps_of(model, cache, len(order), 4)

        whole = together([0, 1, 2, 3], [])
        for place, (unit, values, scores, samples, seed) in enumerate(settings):
            for (layer, _, step), result in seen[place].results.items():
                query, key, value = seen[place].tensors[layer, 0, step]
                alone = unit.decode(query, key, value, values=values, scores=scores, samples=samples,
                                    bernoulli=4, seed=seed, layer=layer, step=step)
                np.testing.assert_array_equal(result.raw_output, alone.raw_output)
        # Nothing of a row depends on those beside it.
        self.assertTrue(torch.equal(whole[:, [3, 0, 2, 1]], together([3, 0, 2, 1], [])))
        self.assertTrue(torch.equal(whole[:, [0, 2]], together([0, 1, 2, 3], [1, 3])[:, [0, 2]]))

    def test_a_cache_of_the_unit_refuses_what_it_cannot_hold(self):
        model = model_of("Mistral", sliding_window=12)
        with self.assertRaisesRegex(ValueError, "cache: got DynamicSlidingWindowLayer of 1 requests"):
            huggingface.UnitCache(self.prefilled(model, tokens(30)), [self.unit])
        model = model_of()
        with self.assertRaisesRegex(ValueError, "cache: got DynamicLayer of 2 requests"):
            huggingface.UnitCache(self.prefilled(model, tokens(30, batch=2)), [self.unit])
        cache = huggingface.UnitCache(self.prefilled(model, tokens(30)), [self.unit])
        model, _ = self.attached(model)
        with self.assertRaisesRegex(ValueError, "cache: got 2 new tokens of 1 requests; allowed: 1 of 1"):
            model(tokens(2), past_key_values=cache, use_cache=True)

    def test_refusals(self):
        for message, more in (("samples: got 3 budgets; allowed: one, or one for each of 2 layers",
                               {"samples": [1, 2, 4]}),
                              ('--samples: got "48"', {"samples": [64, 48]}),
                              ('--seed: got "0"', {"seed": 0}),
                              ('prefill: got "some"; allowed: dense, sampled', {"prefill": "some"}),
                              ("--scores: got", {"values": "topk", "scores": "bernoulli"})):
            with self.assertRaises(ValueError) as caught:
                huggingface.attach(model_of(), self.unit, **more)
            self.assertIn(message, str(caught.exception))
        with self.assertRaises(ValueError) as caught:
            huggingface.attach(torch.nn.Linear(2, 2), self.unit)
        self.assertIn("model: got Linear", str(caught.exception))
        model = model_of()
        model.set_attn_implementation(huggingface.NAME)
        with self.assertRaises(ValueError) as caught:
            model(tokens(4))
        self.assertIn("without settings", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
