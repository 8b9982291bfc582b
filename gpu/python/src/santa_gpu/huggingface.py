"""An attention implementation of transformers: steps of decoding by sampled values, the rest by SDPA.

    santa_gpu.huggingface.register(samples=256)
    model = AutoModelForCausalLM.from_pretrained(..., attn_implementation="santasim_cuda")

A step is sampled when its query is one token, on a CUDA device, of a type, head dimension and group that
the operator has, and nothing is asked for that it lacks (soft caps, sinks, position biases, dropout).
Each request may see any run of tokens: left padding, sliding windows and static caches are kept, as the
mask says. A mask that is no run, and a mask inside torch.compile or a captured graph, where the host cannot
look at it, fall to SDPA, as prompts do. ``calls`` counts both.

The draws of layer l at step t come from (seed, l * 2**32 + t), where t counts the steps since the
layer's last prompt (in compiled code it is the length of the cache): generating twice from the same prompt
gives the same tokens.
"""

import collections
from typing import Any, Optional

import torch
from torch import Tensor

from .operators import Scheme, decode, head_dimensions

NAME = "santasim_cuda"

# How often this process took which way: "sampled" and "sdpa".
calls: "collections.Counter[str]" = collections.Counter()

_CACHE_TYPES = (torch.bfloat16, torch.float16)
_PAGE_TOKENS = 16  # the fewest that the operator takes
_NOT_SUPPORTED = ("softcap", "s_aux", "sinks", "position_bias", "head_mask")


def register(name: str = NAME, *, samples: int = 256, scheme: Scheme = "systematic",
             seed: int = 1) -> None:
    """Registers ``name`` for attn_implementation. Registering it again replaces its numbers."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    if not 1 <= samples <= 1 << 20:
        raise ValueError(f"samples is {samples}, allowed are 1 to {1 << 20}")
    attention = _Attention(sdpa_attention_forward, samples, scheme, seed)

    # Plain functions: transformers asks them for their names.
    def forward(module, query, key, value, attention_mask, **options):
        return attention(module, query, key, value, attention_mask, **options)

    AttentionInterface.register(name, forward)
    AttentionMaskInterface.register(name, sdpa_mask)


class _Attention:
    def __init__(self, dense: Any, samples: int, scheme: Scheme, seed: int) -> None:
        self._dense = dense
        self._samples = samples
        self._scheme = scheme
        self._seed = seed
        self._seeds: dict[torch.device, Tensor] = {}
        self._dimensions = frozenset(head_dimensions())

    def __call__(self, module: torch.nn.Module, query: Tensor, key: Tensor, value: Tensor,
                 attention_mask: Optional[Tensor], **options: Any) -> tuple[Tensor, None]:
        compiling = torch.compiler.is_compiling()
        runs = None
        if self._can_do(query, key, value, options):
            runs = _runs(key, value, attention_mask)
        if not compiling:
            calls["sampled" if runs else "sdpa"] += 1
            module._santa_step = getattr(module, "_santa_step", 0) + 1 if query.shape[2] == 1 else 0
        if runs is None:
            return self._dense(module, query, key, value, attention_mask, **options)
        # A count that changes would be compiled in; without a mask the cache grows with the steps.
        step = key.shape[2] if compiling else module._santa_step
        offset = (getattr(module, "layer_idx", None) or 0) * 2**32 + step
        output, _ = decode(
            query[:, :, 0], *runs.caches, runs.lengths, self._seed_on(query.device),
            _number(offset, query.device), samples=self._samples, scheme=self._scheme, layout="HND",
            block_table=runs.table, scale=options.get("scaling"))
        return output[:, None], None

    def _can_do(self, query: Tensor, key: Tensor, value: Tensor, options: dict[str, Any]) -> bool:
        _, query_heads, query_length, dimension = query.shape
        kv_heads, tokens = key.shape[1:3]
        return (query_length == 1 and query.is_cuda and query.dtype in _CACHE_TYPES
                and key.dtype == value.dtype == query.dtype and key.shape == value.shape
                and dimension in self._dimensions and key.shape[3] == dimension and tokens > 0
                and query_heads % kv_heads == 0 and query_heads // kv_heads <= 16
                and options.get("dropout", 0.0) == 0.0
                and all(options.get(name) is None for name in _NOT_SUPPORTED)
                and all(_can_be_read(tensor) for tensor in (query, key, value)))

    def _seed_on(self, device: torch.device) -> Tensor:
        if torch.compiler.is_compiling():
            return _number(self._seed, device)
        if device not in self._seeds:
            self._seeds[device] = _number(self._seed, device)
        return self._seeds[device]


def _number(value: int, device: torch.device) -> Tensor:
    """On the device without a copy from the host, for which it would wait."""
    return torch.full((), value, dtype=torch.int64, device=device)


def _can_be_read(tensor: Tensor) -> bool:
    """Aligned as the operator needs it; what a compiled graph hands over is, as it allocated it."""
    return torch.compiler.is_compiling() or (
        tensor.stride(-1) == 1 and tensor.data_ptr() % 16 == 0
        and all(stride * tensor.element_size() % 16 == 0
                for size, stride in zip(tensor.shape[:-1], tensor.stride()) if size > 1))


class _Runs:
    """The tokens that each request sees, as the operator takes them."""

    def __init__(self, caches: tuple[Tensor, Tensor], lengths: Tensor,
                 table: Optional[Tensor] = None) -> None:
        self.caches = caches
        self.lengths = lengths
        self.table = table


def _runs(key: Tensor, value: Tensor, mask: Optional[Tensor]) -> Optional[_Runs]:
    """None where the mask is not a run of tokens for each request, or the host cannot tell."""
    if mask is None:
        return _Runs((key, value), torch.full((key.shape[0],), key.shape[2], dtype=torch.int32,
                                              device=key.device))
    if torch.compiler.is_compiling() or torch.cuda.is_current_stream_capturing():
        return None
    return _masked_runs(key, value, mask)


def _masked_runs(key: Tensor, value: Tensor, mask: Tensor) -> Optional[_Runs]:
    """Runs of tokens that begin anywhere: pages that overlap, one starting at each token.

    The last page of a run may reach beyond the cache; the kernels read no token beyond a length.
    """
    requests, kv_heads, tokens, dimension = key.shape
    if (mask.dim() != 4 or mask.shape[1] != 1 or mask.shape[2] != 1 or mask.shape[3] < tokens
            or mask.shape[0] not in (1, requests) or tokens <= _PAGE_TOKENS):
        return None
    bounds = _bounds(mask, tokens)
    if bounds is None:
        return None
    starts, lengths = (bound.expand(requests).contiguous() for bound in bounds)
    views = []
    requests_apart = set()  # in tokens
    for cache in (key, value):
        request_stride, head_stride, token_stride, _ = cache.stride()
        if request_stride % token_stride != 0:
            return None
        apart = request_stride // token_stride if requests > 1 else 0
        requests_apart.add(apart)
        pages = (requests - 1) * apart + tokens - _PAGE_TOKENS + 1
        views.append(cache.as_strided((pages, kv_heads, _PAGE_TOKENS, dimension),
                                      (token_stride, head_stride, token_stride, 1)))
    if len(requests_apart) != 1 or pages >= 2**31:
        return None
    at = torch.arange(0, tokens, _PAGE_TOKENS, device=key.device)
    first = torch.arange(requests, device=key.device) * requests_apart.pop() + starts
    table = torch.where(at < lengths[:, None], first[:, None] + at, 0).to(torch.int32)
    return _Runs((views[0], views[1]), lengths, table)


def _bounds(mask: Tensor, tokens: int) -> Optional[tuple[Tensor, Tensor]]:
    """Begin and length of the run in each row of a mask, or None; looked up once for all layers."""
    known = getattr(mask, "_santa_bounds", None)
    if known is not None and known[0] == tokens:
        return known[1]
    seen = mask[:, 0, 0, :tokens]
    seen = seen if seen.dtype == torch.bool else seen == 0
    lengths = seen.sum(dim=-1)
    starts = seen.to(torch.int8).argmax(dim=-1)
    position = torch.arange(tokens, device=mask.device)
    run = (position >= starts[:, None]) & (position < (starts + lengths)[:, None])
    bounds = (starts, lengths.to(torch.int32)) if bool((run == seen).all()) else None
    mask._santa_bounds = (tokens, bounds)
    return bounds
