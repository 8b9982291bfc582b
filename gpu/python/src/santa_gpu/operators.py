"""The operators santa::decode and santa::decode_out with their fake kernels.

Shapes (R requests, H query heads, K KV heads, D head dimension, S samples):

  query        [R, H, D]     bfloat16 or float16; H / K from 1 to 16; D one of head_dimensions()
  keys, values [R, N, K, D]  for layout NHD, [R, K, N, D] for HND: N tokens' room for each request.
                             The query's type, float8_e4m3fn or int8, one for both. Any strides that are
                             multiples of 16 bytes; the last dimension contiguous
     keys      may be feature-major instead, tokens adjacent: a transposed view of [R, K, D, N] with
               multiples of 16 bytes between features. Scores by Bernoulli draws need that
     paged:    [P, B, K, D]  or [P, K, B, D]: P pages of B tokens, a power of two from 16
  block_table  [R, T]        int32: page of token n of request r is block_table[r, n // B]. Entries up to
                             maximum_length must name pages that are there
  lengths      [R]           int32, tokens of each request, 0 to maximum_length; 0 gives an output of 0 and
                             a log-sum-exp of -inf. Read on the device: never looked at by the host
  seed         [] or [R]     int64 or uint64. One: the number of the request enters its draws. One each:
                             only that enters them
  offset       []            int64 or uint64, below 2**40: another one for each step of decoding
  key_scales, value_scales   [K] float32: elements times it are the real keys and values
  scheme       how draws are spread over the keys' weights: systematic, with one offset for all; stratified, one
               each stratum; independent; and in tiles of tile_tokens keys (128 to 1024, a multiple of 16) prop,
               S2ANTA-prop, which is biased, and flash, S2ANTA-flash, both with exact scores
  scores       exact; or from bernoulli_draws (1 to 64) draws of the query, a head's own or its group's
  scale                      of the scores; 1 / sqrt(D) without it
  maximum_length             no length is above it; N or T * B without it. Bounds the work that a launch
                             plans for, so that a captured graph serves all lengths up to it
  output       [R, H, D]     the query's type
  log_sum_exp  [R, H]        float32, natural logarithm of the sum of exp(score) over all keys
  workspace    [bytes]       uint8, at least workspace_bytes(...), used by one launch at a time. It is zero
                             before its first use and before one with another number of heads, head
                             dimension or type; requests, lengths, samples and schemes may change, and the
                             most for several shapes serves each

All tensors lie on one CUDA device, which need not be the current one; the launch is on that device's
current stream. A shape, type or value that is not allowed raises ValueError with a sentence that names it;
a failure of CUDA raises RuntimeError. There is no gradient.

The schemas are those of torch.ops.santa (decode, decode_out, decode_workspace_bytes); mutated are output,
log_sum_exp and workspace of decode_out, and nothing else.
"""

import pathlib
from typing import Any, Literal, Optional

import torch
from torch import Tensor

Scheme = Literal["systematic", "stratified", "independent", "prop", "flash"]
Scores = Literal["exact", "bernoulli", "bernoulli_group"]
Layout = Literal["NHD", "HND"]


def _load() -> None:
    found = sorted(pathlib.Path(__file__).parent.glob("_operator*.so"))
    if len(found) != 1:
        raise ImportError("santa_gpu is not built: pip install --no-build-isolation ./gpu/python")
    torch.ops.load_library(str(found[0]))


_load()


@torch.library.register_fake("santa::decode")
def _(query, keys, values, lengths, seed, offset, *, samples, scheme="systematic", tile_tokens=256,
      scores="exact", bernoulli_draws=0, layout="NHD", block_table=None, key_scales=None, value_scales=None,
      scale=None, maximum_length=None):
    torch._check_value(query.dim() == 3, lambda: "santa::decode: query has not 3 dimensions")
    return (query.new_empty(query.shape),
            query.new_empty(query.shape[:2], dtype=torch.float32))


@torch.library.register_fake("santa::decode_out")
def _(query, keys, values, lengths, seed, offset, *, samples, output, log_sum_exp, workspace,
      scheme="systematic", tile_tokens=256, scores="exact", bernoulli_draws=0, layout="NHD",
      block_table=None, key_scales=None, value_scales=None, scale=None, maximum_length=None):
    torch._check_value(output.dim() == 3, lambda: "santa::decode: output has not 3 dimensions")


def head_dimensions() -> list[int]:
    """Head dimensions that this package is built with."""
    return torch.ops.santa.head_dimensions()


def decode(query: Tensor, keys: Tensor, values: Tensor, lengths: Tensor, seed: Tensor,
           offset: Tensor, *, samples: int, scheme: Scheme = "systematic",
           tile_tokens: int = 256, scores: Scores = "exact", bernoulli_draws: int = 0,
           layout: Layout = "NHD",
           block_table: Optional[Tensor] = None, key_scales: Optional[Tensor] = None,
           value_scales: Optional[Tensor] = None, scale: Optional[float] = None,
           maximum_length: Optional[int] = None) -> tuple[Tensor, Tensor]:
    """Output and log-sum-exp for one new token of each request; see this module's text.

    ``samples`` value rows are drawn for each query head from the softmax of its scores. Allocates the
    results and a workspace by PyTorch's allocator.
    """
    return torch.ops.santa.decode(
        query, keys, values, lengths, seed, offset, samples=samples, scheme=scheme, tile_tokens=tile_tokens,
        scores=scores, bernoulli_draws=bernoulli_draws, layout=layout, block_table=block_table,
        key_scales=key_scales, value_scales=value_scales, scale=scale,
        maximum_length=maximum_length)


def decode_out(query: Tensor, keys: Tensor, values: Tensor, lengths: Tensor, seed: Tensor,
               offset: Tensor, *, samples: int, output: Tensor, workspace: Tensor,
               log_sum_exp: Optional[Tensor] = None, scheme: Scheme = "systematic",
               tile_tokens: int = 256, scores: Scores = "exact", bernoulli_draws: int = 0,
               layout: Layout = "NHD",
               block_table: Optional[Tensor] = None, key_scales: Optional[Tensor] = None,
               value_scales: Optional[Tensor] = None, scale: Optional[float] = None,
               maximum_length: Optional[int] = None) -> None:
    """As ``decode``, into ``output`` and ``log_sum_exp``; allocates nothing."""
    torch.ops.santa.decode_out(
        query, keys, values, lengths, seed, offset, samples=samples, output=output,
        log_sum_exp=log_sum_exp, workspace=workspace, scheme=scheme, tile_tokens=tile_tokens,
        scores=scores, bernoulli_draws=bernoulli_draws, layout=layout, block_table=block_table,
        key_scales=key_scales, value_scales=value_scales, scale=scale,
        maximum_length=maximum_length)


def workspace_bytes(query: Tensor, keys: Tensor, values: Tensor, *, samples: int,
                    scheme: Scheme = "systematic", tile_tokens: int = 256,
                    scores: Scores = "exact", bernoulli_draws: int = 0, layout: Layout = "NHD",
                    block_table: Optional[Tensor] = None,
                    maximum_length: Optional[int] = None) -> int:
    """Bytes of workspace that ``decode_out`` needs for these shapes; nothing is read from the device."""
    return torch.ops.santa.decode_workspace_bytes(
        query, keys, values, samples=samples, scheme=scheme, tile_tokens=tile_tokens,
        scores=scores, bernoulli_draws=bernoulli_draws, layout=layout, block_table=block_table,
        maximum_length=maximum_length)


def make_workspace(query: Tensor, keys: Tensor, values: Tensor, **options: Any) -> Tensor:
    """A zeroed workspace of ``workspace_bytes``, which takes the same arguments."""
    count = workspace_bytes(query, keys, values, **options)
    return torch.zeros(count, dtype=torch.uint8, device=query.device)
