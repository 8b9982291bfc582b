"""santasim_cuda as an attention implementation, on a tiny Llama and Mistral of random weights."""

import copy

import pytest
import torch

import santa_gpu.huggingface
from santa_gpu.huggingface import calls

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

# With so many draws a sampled step is the exact one to within the noise that `noise_of` measures.
SAMPLES = 1 << 16


@pytest.fixture
def model(device, dimension):
    return build(device, dimension, transformers.LlamaConfig, transformers.LlamaForCausalLM)


def build(device, dimension, config_type, model_type, **options):
    torch.manual_seed(7)
    config = config_type(vocab_size=199, hidden_size=4 * dimension, intermediate_size=256,
                         num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                         head_dim=dimension, max_position_embeddings=1024,
                         initializer_range=0.1, **options)
    return model_type(config).to(device, torch.float16).eval()


def use(model, samples=SAMPLES, seed=1):
    santa_gpu.huggingface.register(samples=samples, seed=seed)
    model.set_attn_implementation("santasim_cuda")
    calls.clear()
    return model


def prompt(device, lengths):
    """Left-padded."""
    generator = torch.Generator().manual_seed(1)
    longest = max(lengths)
    ids = torch.randint(1, 199, (len(lengths), longest), generator=generator)
    mask = torch.stack([(torch.arange(longest) >= longest - length).long() for length in lengths])
    return {"input_ids": ids.to(device), "attention_mask": mask.to(device)}


@torch.no_grad()
def logits_of_steps(model, inputs, steps):
    """Logits of each step after the prompt, with fixed tokens, so that runs can be compared."""
    mask = inputs["attention_mask"]
    positions = (mask.cumsum(dim=-1) - 1).clamp(min=0)
    result = model(**inputs, position_ids=positions, use_cache=True)
    cache, out = result.past_key_values, []
    for step in range(steps):
        mask = torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)
        token = torch.full_like(mask[:, :1], 3 + step)
        positions = (mask.sum(dim=-1) - 1)[:, None]
        result = model(input_ids=token, attention_mask=mask, position_ids=positions,
                       past_key_values=cache, use_cache=True)
        out.append(result.logits[:, -1].double())
    return torch.stack(out)


def expect_like_dense(model, inputs, steps=4, unlike=None):
    """Means over seeds agree with the dense model within their confidence interval.

    `unlike` are logits that are wrong: the test could tell them apart.
    """
    seeds = 24
    dense = copy.deepcopy(model)
    dense.set_attn_implementation("sdpa")
    expected = logits_of_steps(dense, inputs, steps)
    runs = []
    for seed in range(seeds):
        runs.append(logits_of_steps(use(model, seed=seed + 1), inputs, steps))
        assert calls["sampled"] == 2 * steps
        assert calls["sdpa"] == 2  # the prompt, in two layers
    runs = torch.stack(runs)
    error = runs.std(dim=0) / seeds**0.5
    # A logit rounds to fp16, and the two ways of attention round differently before it: as much as
    # dense attention differs from itself computed without the fused kernel.
    dense.set_attn_implementation("eager")
    rounding = (logits_of_steps(dense, inputs, steps) - expected).abs().max()
    # Student's t with 23 degrees of freedom, 1e-6 over all logits.
    distance = (runs.mean(dim=0) - expected).abs() - 2 * rounding
    assert (distance / error).max() < 12
    assert error.max() > 0
    if unlike is not None:
        wrong = (runs.mean(dim=0) - unlike).abs() - 2 * rounding
        assert (wrong / error).max() > 50


def test_steps_are_sampled_and_prompts_are_not(model, device):
    expect_like_dense(model, prompt(device, [300]))


def test_left_padding(model, device):
    inputs = prompt(device, [200, 131, 77])
    dense = copy.deepcopy(model)
    dense.set_attn_implementation("sdpa")
    seen = {**inputs, "attention_mask": torch.ones_like(inputs["attention_mask"])}
    expect_like_dense(model, inputs, unlike=logits_of_steps(dense, seen, 4))


def test_sliding_window(device, dimension):
    model, whole = (build(device, dimension, transformers.MistralConfig,
                          transformers.MistralForCausalLM, sliding_window=window)
                    for window in (64, None))
    whole.set_attn_implementation("sdpa")
    inputs = prompt(device, [150])
    expect_like_dense(model, inputs, unlike=logits_of_steps(whole, inputs, 4))


def test_a_mask_with_holes_falls_to_sdpa(model, device):
    inputs = prompt(device, [100])
    inputs["attention_mask"][0, 40:50] = 0
    logits_of_steps(use(model), inputs, 2)
    assert calls["sampled"] == 0 and calls["sdpa"] == 6


def test_compiled_step(device, dimension):
    """The attention function itself, whole in one graph: a cache that grows is no new compilation."""
    santa_gpu.huggingface.register(samples=64, seed=3)
    forward = transformers.AttentionInterface._global_mapping["santasim_cuda"]
    module = torch.nn.Module()
    module.layer_idx, module.num_key_value_groups = 1, 2

    def step(query, key, value):
        return forward(module, query, key, value, None, scaling=0.1)[0]

    compiled = torch.compile(step, fullgraph=True, dynamic=True)
    for tokens in (100, 101, 160):
        query = torch.randn(2, 4, 1, dimension, device=device, dtype=torch.float16)
        key, value = torch.randn(2, 2, 2, tokens, dimension, device=device, dtype=torch.float16)
        lengths = torch.full((2,), tokens, dtype=torch.int32, device=device)
        expected, _ = santa_gpu.decode(
            query[:, :, 0], key, value, lengths, torch.tensor(3, device=device),
            torch.tensor(2**32 + tokens, device=device), samples=64, layout="HND", scale=0.1)
        assert torch.equal(compiled(query, key, value), expected[:, None])


def test_few_samples_differ_by_seed_and_repeat(model, device):
    inputs = prompt(device, [300])
    first = logits_of_steps(use(model, samples=16, seed=1), inputs, 3)
    assert torch.equal(first, logits_of_steps(use(model, samples=16, seed=1), inputs, 3))
    assert not torch.equal(first, logits_of_steps(use(model, samples=16, seed=2), inputs, 3))


@torch.no_grad()
def test_generate(model, device):
    inputs = prompt(device, [100, 60])
    options = {"max_new_tokens": 6, "do_sample": False, "pad_token_id": 0}
    first = use(model).generate(**inputs, **options)
    assert calls["sampled"] == 2 * 5 and calls["sdpa"] == 2
    assert torch.equal(first, model.generate(**inputs, **options))


def test_what_the_operator_lacks_falls_to_sdpa(model, device):
    model = use(model).float()
    logits_of_steps(model, prompt(device, [50]), 2)
    assert calls["sampled"] == 0 and calls["sdpa"] == 6
