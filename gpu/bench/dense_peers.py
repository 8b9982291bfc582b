#!/usr/bin/env python3
"""Times PyTorch's dense decode attention by the protocol of decode_bench: median of cold runs, by events.

  gpu/bench/dense_peers.py [--query-heads 32] [--kv-heads 8] [--head-dimension 128]

Needs PyTorch and a CUDA device. Each backend gets its own best way to be told of the group: cuDNN and
flash by enable_gqa. Lines of tab-separated values, as decode_bench prints them.
"""

import argparse
import statistics

import torch
import torch.nn.functional as functional
from torch.nn.attention import SDPBackend, sdpa_kernel

SHAPES = [(1, 8192), (1, 32768), (1, 131072), (8, 32768), (32, 8192)]
BACKENDS = {"SDPA cuDNN": SDPBackend.CUDNN_ATTENTION, "SDPA flash": SDPBackend.FLASH_ATTENTION}


def measure(launch, flush, runs=40, warm_up=5):
    times = []
    for run in range(warm_up + runs):
        flush.fill_(run)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        launch()
        end.record()
        end.synchronize()
        if run >= warm_up:
            times.append(1000 * begin.elapsed_time(end))
    times.sort()
    return statistics.median(times), times[2], times[-3]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--query-heads", type=int, default=32)
    parser.add_argument("--kv-heads", type=int, default=8)
    parser.add_argument("--head-dimension", type=int, default=128)
    options = parser.parse_args()
    flush = torch.empty(512 << 20, dtype=torch.uint8, device="cuda")
    print("what\trequests\tlength\tsamples\tmedian_us\tp5_us\tp95_us")
    for requests, length in SHAPES:
        query = torch.randn(requests, options.query_heads, 1, options.head_dimension,
                            device="cuda", dtype=torch.bfloat16)
        keys, values = (torch.randn(requests, length, options.kv_heads, options.head_dimension,
                                    device="cuda", dtype=torch.bfloat16).transpose(1, 2)
                        for _ in range(2))
        for name, backend in BACKENDS.items():
            try:
                with sdpa_kernel(backend):
                    def launch():
                        return functional.scaled_dot_product_attention(query, keys, values,
                                                                       enable_gqa=True)
                    # In a graph, so that the host's work is not timed.
                    launch()
                    torch.cuda.synchronize()
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph):
                        launch()
                    median, low, high = measure(graph.replay, flush)
            except RuntimeError as error:
                print(f"{name}\t{requests}\t{length}\t0\tnot run: {str(error).splitlines()[0]}")
                continue
            print(f"{name}\t{requests}\t{length}\t0\t{median:.2f}\t{low:.2f}\t{high:.2f}", flush=True)
        del query, keys, values


if __name__ == "__main__":
    main()
