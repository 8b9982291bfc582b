"""The golden kernels against the processor: Unit(backend="cuda"), alone and in models."""

import itertools
import unittest

import numpy as np
import santasim
from santasim import _golden

OBSTACLE = _golden.cuda_obstacle()
PAIRS = [(values, scores) for values, scores in itertools.product(santasim.VALUE_SCHEMES,
                                                                  santasim.SCORE_SCHEMES)
         if scores == "exact" or values not in ("topk", "dense")]


class WithoutCuda(unittest.TestCase):
    @unittest.skipUnless(OBSTACLE, "there is a CUDA device")
    def test_the_reason_is_said(self):
        with self.assertRaises(ValueError) as caught:
            santasim.Unit(backend="cuda")
        self.assertIn(f'backend: got "cuda": {OBSTACLE}; allowed: cpu', str(caught.exception))

    def test_other_backends_are_refused(self):
        with self.assertRaises(ValueError) as caught:
            santasim.Unit(backend="tpu")
        self.assertEqual(str(caught.exception), 'backend: got "tpu"; allowed: cpu, cuda')


def units(**overrides):
    return [santasim.Unit("edge-lpddr5", overrides=overrides, backend=backend)
            for backend in santasim.BACKENDS]


@unittest.skipIf(OBSTACLE, OBSTACLE)
class Steps(unittest.TestCase):
    def assert_same(self, first, second, what):
        for field in ("output", "raw_output", "log_sum_exp"):
            np.testing.assert_array_equal(getattr(first, field), getattr(second, field), str(what))
        for field in ("keys", "counts", "features"):
            mine, other = getattr(first, field), getattr(second, field)
            self.assertEqual(len(mine), len(other), what)
            for left, right in zip(mine, other):
                np.testing.assert_array_equal(left, right, str(what))
        self.assertEqual(first.operations, second.operations, what)
        self.assertEqual(first.reads, second.reads, what)

    def test_every_scheme_group_and_context(self):
        random = np.random.default_rng(1)
        for (values, scores), group, context in itertools.product(PAIRS, (1, 2, 3, 4), (0, 1, 17, 300)):
            query = random.standard_normal((2 * group, 24), np.float32)
            key, value = random.standard_normal((2, 2, context, 24), np.float32)
            options = {"values": values, "scores": scores, "samples": 32, "bernoulli": 4, "seed": 9,
                       "request": 2, "layer": 3, "step": 5}
            first, second = [unit.decode(query, key, value, **options)
                             for unit in units(**{"unit.tile_keys": 64, "unit.key_lanes": 64})]
            self.assert_same(first, second, (values, scores, group, context))

    def test_widths_and_caches_that_grow(self):
        random = np.random.default_rng(2)
        query = random.standard_normal((4, 40, 64), np.float32)
        key, value = random.standard_normal((2, 2, 40, 64), np.float32)
        for key_bits, value_bits in itertools.product((4, 8), (4, 8)):
            caches = [unit.cache(key[:, :30], value[:, :30]) for unit in units(
                **{"system.key_bits": key_bits, "system.value_bits": value_bits})]
            for step in range(30, 40):
                for cache in caches:
                    cache.append(key[:, step:step + 1], value[:, step:step + 1])
                self.assert_same(*(cache.decode(query[:, step], samples=16, step=step)
                                   for cache in caches), (key_bits, value_bits, step))


try:
    import torch
    from santasim import huggingface
    from test_huggingface import Seen, decode, model_of, tokens
except (ImportError, unittest.SkipTest) as error:
    MISSING = f"not installed: {error}"
else:
    MISSING = ""


@unittest.skipIf(OBSTACLE or MISSING, OBSTACLE or MISSING)
class Models(unittest.TestCase):
    def assert_same_logits(self, kind, prompt, steps, more=None, mask=None, device="cpu", **options):
        logits, results = [], []
        for unit in units():
            seen = Seen()
            model = model_of(kind, **(more or {})).to(device)
            huggingface.attach(model, unit, observer=seen, seed=3, **options)
            logits.append(decode(model, prompt.to(device), steps,
                                 None if mask is None else mask.to(device)))
            results.append(seen.results)
        what = kind, options, device
        self.assertTrue(torch.equal(*logits), what)
        self.assertEqual(results[0].keys(), results[1].keys(), what)
        for place, result in results[0].items():
            np.testing.assert_array_equal(result.raw_output, results[1][place].raw_output, str(what))
            self.assertEqual(result.operations, results[1][place].operations, what)

    def test_every_scheme_of_a_batch_with_groups(self):
        for values, scores in PAIRS:
            for group in (1, 2, 3, 4):
                more = {"num_attention_heads": 2 * group, "head_dim": 16, "hidden_size": 32 * group}
                self.assert_same_logits("Llama", tokens(40, batch=3), 2, more, values=values,
                                        scores=scores, samples=16)

    def test_a_sliding_window_with_padding(self):
        mask = (torch.arange(40)[None] >= torch.tensor([[0], [7], [25]])).long()
        for values, scores in PAIRS:
            self.assert_same_logits("Mistral", tokens(40, batch=3), 3, {"sliding_window": 12},
                                    mask=mask, values=values, scores=scores, samples=16)

    def test_a_sampled_prefill(self):
        for kind, more in (("Llama", {}), ("Mistral", {"sliding_window": 12})):
            self.assert_same_logits(kind, tokens(20, batch=2), 3, more, samples=16,
                                    prefill="sampled")

    def test_a_prefix_and_requests_with_attention_of_their_own(self):
        prompt = tokens(30)
        logits = []
        for unit in units():
            model = model_of()
            with torch.no_grad():
                start = model(prompt, use_cache=True).past_key_values
                huggingface.attach_each(model, [
                    huggingface.Attention(unit, values, scores, 16) for values, scores in PAIRS])
                cache = huggingface.UnitCache(start, [unit] * len(PAIRS))
                rows = []
                for step in range(5):
                    new = torch.full((len(PAIRS), 1), step)
                    rows.append(model(new, past_key_values=cache, use_cache=True).logits)
            logits.append(torch.cat(rows))
        self.assertTrue(torch.equal(*logits))

    def test_texts(self):
        texts = []
        for unit in units():
            model = model_of()
            huggingface.attach(model, unit, samples=16, scores="bernoulli-group")
            texts.append(model.generate(tokens(20), max_new_tokens=40, do_sample=False, pad_token_id=0))
        self.assertTrue(torch.equal(*texts))

    def test_a_model_on_the_device(self):
        if not torch.cuda.is_available():
            self.skipTest("this PyTorch has no CUDA")
        for values, scores in PAIRS:
            self.assert_same_logits("Llama", tokens(40, batch=2), 2, values=values, scores=scores,
                                    samples=16, device="cuda")


if __name__ == "__main__":
    unittest.main()
