"""The operator against exact attention in float64, and what it promises of strides, seeds and errors."""

import dataclasses
import math

import pytest
import torch

import santa_gpu
from problem import copies, exact, make_problem, worst_deviation

UNBIASED = ["systematic", "stratified", "independent", "flash"]
# 1024 outputs together at 1e-6: normal quantile of 1 - 0.5e-6 / 1024.
QUANTILE = 6.1


def decode(problem, **options):
    return santa_gpu.decode(*problem.inputs(), samples=problem.samples, **options)


@pytest.mark.parametrize("scheme", UNBIASED)
def test_mean_over_draws_is_exact_attention(device, dimension, scheme):
    problem = make_problem(device, dimension=dimension, dtype=torch.float16, samples=64)
    expected, _ = exact(problem)
    many = copies(problem, 2000)
    outputs = torch.cat([decode(dataclasses.replace(many, seed=problem.seed + i), scheme=scheme)[0]
                         for i in range(2)])
    assert not torch.equal(outputs[0], outputs[1])
    worst = worst_deviation(outputs, expected[0])
    assert 1 < worst < QUANTILE


@pytest.mark.parametrize("scheme", ["prop", "flash"])
def test_schemes_in_tiles(device, dimension, scheme):
    """Counts add up: values of one are outputs of one, for tiles of any size."""
    problem = make_problem(device, (3000, 0, 77), dimension=dimension)
    ones = dataclasses.replace(problem, values=torch.ones_like(problem.values))
    for tile in (128, 256, 1024):
        output, sums = decode(ones, scheme=scheme, tile_tokens=tile)
        assert torch.equal(output[[0, 2]], torch.ones_like(output[[0, 2]]))
        assert (sums[0].double() - exact(problem)[1][0]).abs().max() < 1e-3
    with pytest.raises(ValueError, match="tile_tokens is 100"):
        decode(ones, scheme=scheme, tile_tokens=100)


def test_spread_of_independent_draws_is_that_of_the_softmax(device, dimension):
    problem = make_problem(device, dimension=dimension, dtype=torch.float16, samples=64)
    mean, _ = exact(problem)
    squares, _ = exact(dataclasses.replace(problem, values=problem.values.double() ** 2))
    variance = (squares - mean**2)[0] / problem.samples
    outputs = decode(copies(problem, 4000), scheme="independent")[0].double()
    # A variance of 4000 nearly normal values has a relative deviation of sqrt(2 / 3999).
    ratio = outputs.var(dim=0) / variance
    assert (ratio - 1).abs().max().item() < 6.5 * math.sqrt(2 / 3999)


@pytest.mark.parametrize("cache_dtype", [None, torch.float8_e4m3fn, torch.int8])
def test_log_sum_exp_and_scales(device, dimension, cache_dtype):
    problem = make_problem(device, (700, 0, 33), dimension=dimension, cache_dtype=cache_dtype)
    options = {}
    if cache_dtype is not None:
        options = {"key_scales": torch.tensor([0.025, 0.05], device=device),
                   "value_scales": torch.tensor([0.5, 2.0], device=device)}
    output, log_sum_exp = decode(problem, **options)
    expected, expected_sum = exact(problem, **options)
    for request in (0, 2):
        # Of a score each product and sum in float32, and of its power of two a unit of 2**-20.
        bound = dimension * 2**-23 * problem.query.float().norm(dim=-1).max() * 80 + 2**-18
        difference = (log_sum_exp[request].double() - expected_sum[request]).abs().max()
        assert difference < bound
    assert torch.equal(output[1], torch.zeros_like(output[1]))
    assert torch.equal(log_sum_exp[1], torch.full_like(log_sum_exp[1], -math.inf))
    # Values scale exactly by powers of two.
    if cache_dtype is not None:
        half = decode(problem, key_scales=options["key_scales"],
                      value_scales=options["value_scales"] / 2)[0]
        assert torch.equal(2 * half, output)
    assert (output.double() - expected).abs().max() < 12 * expected.abs().max()


def test_layouts_strides_and_pages_give_the_same_bits(device, dimension):
    problem = make_problem(device, (500, 77), dimension=dimension, capacity=512)
    plain = decode(problem)
    keys, values = (cache.transpose(1, 2).contiguous() for cache in (problem.keys, problem.values))
    head_major = decode(dataclasses.replace(problem, keys=keys, values=values), layout="HND")
    both = torch.stack([problem.keys, problem.values], dim=2)  # keys and values of a token together
    woven = decode(dataclasses.replace(problem, keys=both[:, :, 0], values=both[:, :, 1]))
    joint = torch.cat([problem.query, problem.query], dim=1)  # queries within a wider row
    sliced = decode(dataclasses.replace(problem, query=joint[:, 8:]))
    table = torch.randperm(64, generator=torch.Generator().manual_seed(3)).to(torch.int32)
    table = table.reshape(2, 32).to(device)
    keys, values = (torch.empty(64, 16, *cache.shape[2:], dtype=cache.dtype, device=device)
                    for cache in (problem.keys, problem.values))
    for pages, cache in ((keys, problem.keys), (values, problem.values)):
        pages[table.long()] = cache.reshape(2, 32, 16, *cache.shape[2:])
    paged = decode(dataclasses.replace(problem, keys=keys, values=values), block_table=table)
    for other in (head_major, woven, sliced, paged):
        assert torch.equal(plain[0], other[0])
        assert torch.equal(plain[1], other[1])


def feature_major(problem):
    keys = problem.keys.permute(0, 2, 3, 1).contiguous()  # tokens adjacent
    return dataclasses.replace(problem, keys=keys.permute(0, 3, 1, 2))


def test_feature_major_keys(device, dimension):
    problem = make_problem(device, dimension=dimension, dtype=torch.float16, samples=64)
    expected, expected_sum = exact(problem)
    outputs, sums = decode(copies(feature_major(problem), 2000))
    assert 1 < worst_deviation(outputs, expected[0]) < QUANTILE
    assert (sums[0].double() - expected_sum[0]).abs().max() < 1e-3
    with pytest.raises(ValueError, match="need key_layout kFeatureMajor"):
        decode(problem, scores="bernoulli", bernoulli_draws=4)


@pytest.mark.parametrize("scores", ["bernoulli", "bernoulli_group"])
def test_bernoulli_draws_of_equal_magnitudes_are_certain(device, dimension, scores):
    problem = make_problem(device, dimension=dimension)
    certain = dataclasses.replace(feature_major(problem), query=0.5 * torch.sign(problem.query))
    _, sums = decode(certain, scores=scores, bernoulli_draws=4)
    _, expected = exact(certain)
    assert (sums.double() - expected).abs().max() < 1e-3
    _, drawn = decode(feature_major(problem), scores=scores, bernoulli_draws=4)
    assert (drawn.double() - exact(problem)[1]).abs().max() > 1e-2


def test_seeds(device, dimension):
    problem = copies(make_problem(device, dimension=dimension), 4)
    shared = decode(problem)[0]
    assert not torch.equal(shared[0], shared[1])
    equal_seeds = dataclasses.replace(problem, seed=torch.full((4,), 9, device=device))
    each = decode(equal_seeds)[0]
    assert all(torch.equal(each[0], other) for other in each)
    alone = dataclasses.replace(copies(make_problem(device, dimension=dimension), 1),
                                seed=torch.full((1,), 9, device=device))
    assert torch.equal(decode(alone)[0][0], each[0])
    unsigned = dataclasses.replace(problem, seed=torch.tensor(1, device=device).to(torch.uint64))
    assert torch.equal(decode(unsigned)[0], shared)
    later = dataclasses.replace(problem, offset=problem.offset + 1)
    assert not torch.equal(decode(later)[0], shared)


def test_out_variant_equals_functional_and_allocates_nothing(device, dimension):
    problem = make_problem(device, (900, 30), dimension=dimension)
    output, log_sum_exp = decode(problem)
    workspace = santa_gpu.make_workspace(*problem.inputs()[:3], samples=problem.samples)
    result = torch.empty_like(output)
    for _ in range(3):
        before = torch.cuda.memory_stats(device)["allocation.all.allocated"]
        result.zero_()
        santa_gpu.decode_out(*problem.inputs(), samples=problem.samples, output=result,
                             workspace=workspace)
        assert torch.cuda.memory_stats(device)["allocation.all.allocated"] == before
        assert torch.equal(result, output)
    sums = torch.empty_like(log_sum_exp)
    santa_gpu.decode_out(*problem.inputs(), samples=problem.samples, output=result,
                         log_sum_exp=sums, workspace=workspace)
    assert torch.equal(sums, log_sum_exp)


def test_device_that_is_not_current(other_device, dimension):
    problem = make_problem(other_device, dimension=dimension)
    assert torch.cuda.current_device() != other_device.index
    output, log_sum_exp = decode(problem)
    assert output.device == other_device and torch.cuda.current_device() != other_device.index
    with torch.cuda.device(other_device):
        again = decode(problem)
    assert torch.equal(output, again[0]) and torch.equal(log_sum_exp, again[1])


def test_side_stream(device, dimension):
    problem = make_problem(device, dimension=dimension)
    expected = decode(problem)[0]
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):
        output = decode(problem)[0]
    stream.synchronize()
    assert torch.equal(output, expected)


WRONG = {
    "samples is 0": ({}, {"samples": 0}),
    "scheme is 'best', allowed are systematic, stratified, independent, prop, flash": ({}, {"scheme": "best"}),
    "scores is 'few', allowed are exact, bernoulli, bernoulli_group": ({}, {"scores": "few"}),
    "bernoulli_draws is 4, allowed with scores by Bernoulli draws only": (
        {}, {"bernoulli_draws": 4}),
    "layout is 'DHN', allowed are NHD and HND": ({}, {"layout": "DHN"}),
    "query is Float, allowed are BFloat16 and Half": ({"query": lambda p: p.query.float()}, {}),
    "query has 2 dimensions, allowed are 3": ({"query": lambda p: p.query[0]}, {}),
    "query_heads is 7, allowed are multiples": ({"query": lambda p: p.query[:, :7]}, {}),
    "keys are Float, allowed are BFloat16, Half": (
        {"keys": lambda p: p.keys.float(), "values": lambda p: p.values.float()}, {}),
    "keys are Half, values BFloat16": ({"keys": lambda p: p.keys.half()}, {}),
    "query_type and cache_type differ": (
        {"keys": lambda p: p.keys.half(), "values": lambda p: p.values.half()}, {}),
    r"values has shape \[1, 999, 2, \d+\]": ({"values": lambda p: p.values[:, :999]}, {}),
    "head dimension of keys is": ({"keys": lambda p: p.keys[..., :32],
                                   "values": lambda p: p.values[..., :32]}, {}),
    "keys: the stride of the last dimension is 2": (
        {"keys": lambda p: p.keys.repeat_interleave(2, dim=3)[..., ::2]}, {}),
    "keys is not aligned to 16 bytes": (
        {"keys": lambda p: torch.cat([p.keys, p.keys], dim=3)[..., 2:2 + p.keys.shape[3]]}, {}),
    "keys are of 2 requests, query of 1": ({"keys": lambda p: p.keys.repeat(2, 1, 1, 1),
                                            "values": lambda p: p.values.repeat(2, 1, 1, 1)}, {}),
    "lengths is Long, allowed is Int": ({"lengths": lambda p: p.lengths.long()}, {}),
    r"lengths has shape \[2\], allowed is \[1\]": ({"lengths": lambda p: p.lengths.repeat(2)}, {}),
    "lengths is on cpu, query on cuda:0": ({"lengths": lambda p: p.lengths.cpu()}, {}),
    "seed is Int, allowed are Long": ({"seed": lambda p: p.seed.int()}, {}),
    r"seed has shape \[3\], allowed are \[\] for one seed and \[1\]": (
        {"seed": lambda p: p.seed.repeat(3)}, {}),
    r"offset has shape \[1\], allowed is \[\]": ({"offset": lambda p: p.offset[None]}, {}),
    "maximum_length is 1001, allowed are 1 to 1000": ({}, {"maximum_length": 1001}),
    r"key_scales has shape \[3\], allowed is \[2\]": (
        {}, {"key_scales": lambda p: torch.ones(3, device=p.query.device)}),
    "block_table is Long, allowed is Int": (
        {}, {"block_table": lambda p: torch.zeros(1, 1, dtype=torch.int64, device=p.query.device)}),
    "block_tokens is 1000, allowed are powers of two": (
        {}, {"block_table": lambda p: torch.zeros(1, 1, dtype=torch.int32, device=p.query.device)}),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_arguments_are_named(device, dimension, message):
    problem = make_problem(device, dimension=dimension)
    fields, options = WRONG[message]
    changed = {name: change(problem) for name, change in fields.items()}
    options = {name: value(problem) if callable(value) else value
               for name, value in {"samples": problem.samples, **options}.items()}
    with pytest.raises(ValueError, match="santa::decode: " + message):
        santa_gpu.decode(*dataclasses.replace(problem, **changed).inputs(), **options)


def test_dimensions_that_are_not_built_are_refused(device):
    for dimension in {46, 72, 64, 96, 128, 192, 256} - set(santa_gpu.head_dimensions()):
        problem = make_problem(device, dimension=dimension)
        with pytest.raises(ValueError, match=f"head dimension is {dimension}, built into"):
            decode(problem)


def test_workspace_is_checked(device, dimension):
    problem = make_problem(device, dimension=dimension)
    size = santa_gpu.workspace_bytes(*problem.inputs()[:3], samples=problem.samples)
    output = torch.empty_like(problem.query)
    for workspace, message in (
            (torch.zeros(size - 1, dtype=torch.uint8, device=device), "workspace_bytes is"),
            (torch.zeros(size, dtype=torch.int8, device=device), "workspace is Char"),
            (torch.zeros(size, dtype=torch.uint8), "workspace is on cpu")):
        with pytest.raises(ValueError, match="santa::decode: " + message):
            santa_gpu.decode_out(*problem.inputs(), samples=problem.samples, output=output,
                                 workspace=workspace)
    workspace = torch.zeros(size, dtype=torch.uint8, device=device)
    with pytest.raises(ValueError, match="output is Float"):
        santa_gpu.decode_out(*problem.inputs(), samples=problem.samples, output=output.float(),
                             workspace=workspace)
