"""Other people's decode attention: each peer gives launches of one step, one for each of its settings.

A peer is a function of (Step, options) that returns {setting: launch}. It raises NotRun with the reason
where it cannot do a step. The best of its settings counts, so a trap of one is no advantage of ours.
"""

import dataclasses
import functools
import math

import torch
import torch.nn.functional as functional
from torch.nn.attention import SDPBackend, sdpa_kernel


class NotRun(Exception):
    """Why a peer does not do a step."""


@dataclasses.dataclass
class Step:
    query: torch.Tensor  # [requests, query heads, dimension], bf16
    keys: torch.Tensor  # [requests, tokens, KV heads, dimension], contiguous
    values: torch.Tensor
    type: str  # of keys and values: bf16, fp16, fp8, int8


def need_16_bits(step):
    if step.type not in ("bf16", "fp16"):
        raise NotRun(f"takes no {step.type} keys and values")


def sdpa(backend, step, _options):
    need_16_bits(step)
    query = step.query[:, :, None]
    launches = {}
    for layout in ("NHD", "HND"):
        keys, values = (cache.transpose(1, 2) for cache in (step.keys, step.values))
        if layout == "HND":
            keys, values = keys.contiguous(), values.contiguous()

        def launch(keys=keys, values=values):
            with sdpa_kernel(backend):
                return functional.scaled_dot_product_attention(query, keys, values, enable_gqa=True)
        launches[layout] = launch
    return launches


@functools.cache
def flash_infer():
    try:
        import flashinfer
    except ImportError as error:
        raise NotRun(f"not installed ({error})") from error
    return flashinfer


def check_flash_infer_type(step):
    if step.type == "int8":
        raise NotRun("takes no int8 keys and values")


def flash_infer_single(step, _options):
    check_flash_infer_type(step)
    if step.query.shape[0] != 1:
        raise NotRun("one request only")
    module = flash_infer()
    launches = {}
    for layout in ("NHD", "HND"):
        keys, values = step.keys[0], step.values[0]
        if layout == "HND":
            keys, values = (cache.transpose(0, 1).contiguous() for cache in (keys, values))
        for cores in (False, True):
            launches[f"{layout}, use_tensor_cores={cores}"] = functools.partial(
                module.single_decode_with_kv_cache, step.query[0], keys, values, kv_layout=layout,
                use_tensor_cores=cores)
    return launches


def flash_infer_batch(step, _options):
    """Paged, as servers use it; the plan is made ahead, as they do."""
    check_flash_infer_type(step)
    module = flash_infer()
    requests, tokens, kv_heads, dimension = step.keys.shape
    query_heads = step.query.shape[1]
    launches = {}
    for page in (16, 64):
        if tokens % page:
            continue
        pages = tokens // page
        keys, values = (cache.view(requests * pages, page, kv_heads, dimension)
                        for cache in (step.keys, step.values))
        starts = torch.arange(requests + 1, dtype=torch.int32, device="cuda") * pages
        table = torch.arange(requests * pages, dtype=torch.int32, device="cuda")
        last = torch.full((requests,), page, dtype=torch.int32, device="cuda")
        for cores in (False, True):
            # A workspace that is too small, or none, costs it the split of long contexts.
            workspace = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
            wrapper = module.BatchDecodeWithPagedKVCacheWrapper(workspace, "NHD",
                                                                use_tensor_cores=cores)
            wrapper.plan(starts, table, last, query_heads, kv_heads, dimension, page,
                         q_data_type=step.query.dtype, kv_data_type=step.keys.dtype)
            launches[f"page {page}, use_tensor_cores={cores}"] = functools.partial(
                wrapper.run, step.query, (keys, values))
    return launches


def flash_attention_2(step, _options):
    need_16_bits(step)
    try:
        from flash_attn import flash_attn_with_kvcache
    except ImportError as error:
        raise NotRun(f"not installed ({error})") from error
    return {f"num_splits={splits}": functools.partial(
        flash_attn_with_kvcache, step.query[:, None], step.keys, step.values, causal=True,
        num_splits=splits) for splits in (0, 8, 16, 32)}


def flash_attention_3(step, _options):
    if step.type == "int8":
        raise NotRun("takes no int8 keys and values")
    try:
        from flash_attn_interface import flash_attn_with_kvcache
    except ImportError as error:
        raise NotRun(f"not installed ({error})") from error
    query = step.query[:, None]
    if step.type == "fp8":
        query = query.to(step.keys.dtype)
    # Its own choice at one request is 15 splits; more are faster.
    return {f"num_splits={splits}": functools.partial(
        flash_attn_with_kvcache, query, step.keys, step.values, causal=True, num_splits=splits)
        for splits in (0, 16, 32, 64)}


@functools.cache
def published(folder, name):
    from torch.utils.cpp_extension import load
    sources = [str(folder / name) for name in ("santa_cuda.cpp", "santa_cuda_kernel.cu")]
    try:
        return load(name=name, sources=sources, extra_cuda_cflags=["-O3"])
    except (OSError, RuntimeError, ImportError) as error:
        raise NotRun(f"{folder} does not build: {str(error).splitlines()[0]}") from error


def published_santa(folder_name, samples, step, options):
    """The extensions of arXiv 2605.01910, from a checkout of theirs; each sample budget is a peer."""
    need_16_bits(step)
    if options.published_santa is None:
        raise NotRun("no checkout given (--published-santa)")
    folder = options.published_santa / folder_name
    if not folder.is_dir():
        raise NotRun(f"no folder {folder.name} given")
    if step.query.shape[0] != 1:
        raise NotRun("one request only")
    module = published(folder, folder_name)
    return {"block_n=auto": functools.partial(
        module.decode_systematic_scalar, step.query[0].contiguous(), step.keys[0], step.values[0],
        samples, 42, 0, False)}


def santa_operator(samples, step, options):
    """Our own kernels by their PyTorch operator, as a graph: what the operator adds to them."""
    try:
        import santa_gpu
    except ImportError as error:
        raise NotRun(f"not installed ({error})") from error
    requests, tokens, kv_heads, dimension = step.keys.shape
    if dimension not in santa_gpu.head_dimensions():
        raise NotRun(f"not built for head dimension {dimension}")
    lengths = torch.full((requests,), tokens, dtype=torch.int32, device="cuda")
    number = torch.zeros((), dtype=torch.int64, device="cuda")
    scales = None
    if step.type == "int8":
        scales = torch.full((kv_heads,), 1 / 40, dtype=torch.float32, device="cuda")
    workspace = santa_gpu.make_workspace(step.query, step.keys, step.values, samples=samples)
    output = torch.empty_like(step.query)
    return {"": functools.partial(
        santa_gpu.decode_out, step.query, step.keys, step.values, lengths, number, number,
        samples=samples, output=output, workspace=workspace, key_scales=scales, value_scales=scales,
        scale=1 / math.sqrt(dimension))}


def peers(samples):
    """(name, samples, function) of each peer; dense ones have no samples."""
    dense = [("SDPA cuDNN", functools.partial(sdpa, SDPBackend.CUDNN_ATTENTION)),
             ("SDPA flash", functools.partial(sdpa, SDPBackend.FLASH_ATTENTION)),
             ("FlashInfer single decode", flash_infer_single),
             ("FlashInfer batch decode", flash_infer_batch),
             ("FlashAttention-2", flash_attention_2),
             ("FlashAttention-3", flash_attention_3)]
    entries = [(name, 0, function) for name, function in dense]
    for count in samples:
        entries.append(("published SANTA-prop", count, functools.partial(
            published_santa, "santa_fused_proportional_tile_budgets", count)))
    # The budget at which its authors find the accuracy of dense attention again.
    entries.append(("published SANTA-flash", 2048, functools.partial(
        published_santa, "flash_style_fused_santa_fixed_tile_budgets", 2048)))
    for count in samples:
        entries.append(("santa_gpu operator", count, functools.partial(santa_operator, count)))
    return entries
