"""Decode problems and their exact answers in float64."""

import dataclasses
import math

import torch


@dataclasses.dataclass
class Problem:
    query: torch.Tensor
    keys: torch.Tensor  # NHD, contiguous
    values: torch.Tensor
    lengths: torch.Tensor
    seed: torch.Tensor
    offset: torch.Tensor
    samples: int = 256

    def inputs(self):
        return self.query, self.keys, self.values, self.lengths, self.seed, self.offset


def make_problem(device, lengths=(1000,), query_heads=8, kv_heads=2, dimension=128, capacity=None,
                 dtype=torch.bfloat16, cache_dtype=None, samples=256, spread=1.0):
    generator = torch.Generator(device).manual_seed(5)
    requests, capacity = len(lengths), capacity or max(lengths)

    def gaussian(*shape):
        return torch.randn(*shape, generator=generator, device=device)

    shape = (requests, capacity, kv_heads, dimension)
    keys, values = gaussian(*shape), gaussian(*shape)
    if cache_dtype == torch.int8:
        keys, values = ((40 * x).round().clamp(-127, 127) for x in (keys, values))
    cache_dtype = cache_dtype or dtype
    return Problem(
        (spread * gaussian(requests, query_heads, dimension)).to(dtype), keys.to(cache_dtype),
        values.to(cache_dtype), torch.tensor(lengths, dtype=torch.int32, device=device),
        torch.tensor(1, dtype=torch.int64, device=device),
        torch.tensor(0, dtype=torch.int64, device=device), samples)


def exact(problem, key_scales=None, value_scales=None):
    """Output [R, H, D] and log-sum-exp [R, H] in float64."""
    query = problem.query.double()
    group = query.shape[1] // problem.keys.shape[2]
    keys, values = (cache.to(torch.float64).repeat_interleave(group, dim=2)
                    for cache in (problem.keys, problem.values))
    if key_scales is not None:
        keys = keys * key_scales.double().repeat_interleave(group)[:, None]
    if value_scales is not None:
        values = values * value_scales.double().repeat_interleave(group)[:, None]
    scores = torch.einsum("rhd,rnhd->rhn", query, keys) / math.sqrt(query.shape[2])
    position = torch.arange(keys.shape[1], device=keys.device)
    beyond = position[None, None, :] >= problem.lengths[:, None, None]
    scores = scores.masked_fill(beyond, -math.inf)
    log_sum_exp = torch.logsumexp(scores, dim=-1)
    weights = torch.exp(scores - log_sum_exp[..., None]).nan_to_num(0.0)
    values = values.masked_fill(beyond[:, 0, :, None, None], 0.0)
    return torch.einsum("rhn,rnhd->rhd", weights, values), log_sum_exp


def copies(problem, count):
    """One request as many, without copies of its cache: the draws of each are its own."""
    return dataclasses.replace(
        problem, query=problem.query.expand(count, -1, -1),
        keys=problem.keys.expand(count, -1, -1, -1), values=problem.values.expand(count, -1, -1, -1),
        lengths=problem.lengths.expand(count).contiguous())


def worst_deviation(outputs, expected):
    """Largest distance of a mean over requests from what is expected, in its standard errors.

    Half a unit in the last place of an output, which rounding may shift a mean by, is let off.
    """
    outputs = outputs.double()
    error = outputs.std(dim=0) / math.sqrt(outputs.shape[0])
    rounding = expected.abs() * torch.finfo(torch.float16).eps / 2
    distance = (outputs.mean(dim=0) - expected).abs() - rounding
    return (distance / error).max().item()
