#!/usr/bin/env python3
"""Measures the decode kernels and their peers on this machine's device, in one run and by one protocol.

  gpu/bench/measure.py --program build/bench-gpu/decode_bench --json gpu/results/NAME.json
  gpu/bench/measure.py --program "build/bin/santasim bench" --json F --steps 1x32768 --energy

The program measures our kernels and the plain reads; peers are those of PyTorch, and what is installed of
FlashInfer, FlashAttention and santa_gpu; what is not there has a row that says so. Exit code 2 for bad
options. tools/gpu_table.py and tools/gpu_figure.py make documents of the result.
"""

import argparse
import gc
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import torch

from peers import NotRun, Step, peers
from timing import FLUSH_BYTES, Protocol, in_graph

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp8": torch.float8_e4m3fn,
         "int8": torch.int8}


def numbers(text):
    return [int(word) for word in text.split(",")]


def steps(text):
    return [tuple(map(int, word.split("x", 1))) for word in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=shlex.split, required=True,
                        help="decode_bench, or 'santasim bench'")
    parser.add_argument("--json", type=pathlib.Path, required=True, help="file of the results")
    parser.add_argument("--add", action="store_true",
                        help="add to the results that are there, of the same device and commit")
    parser.add_argument("--lengths", type=numbers, default=[1 << n for n in range(12, 18)])
    parser.add_argument("--batches", type=numbers, default=[1 << n for n in range(6)])
    parser.add_argument("--steps", type=steps, metavar="RxN,..",
                        help="requests and lengths, in place of all pairs of the two above")
    parser.add_argument("--samples", type=numbers, default=[256, 1024])
    parser.add_argument("--types", type=lambda text: text.split(","), default=["bf16"])
    parser.add_argument("--schemes", default="systematic", help="for the program alone, as are")
    parser.add_argument("--scores", default="exact")
    parser.add_argument("--bernoulli", type=int, default=4)
    parser.add_argument("--spreads", default="1")
    parser.add_argument("--query-heads", type=int, default=32)
    parser.add_argument("--kv-heads", type=int, default=8)
    parser.add_argument("--head-dimension", type=int, default=128)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--energy", action="store_true", help="energy of a step too")
    parser.add_argument("--published-santa", type=pathlib.Path,
                        help="checkout of the authors' repository")
    parser.add_argument("--only", help="peers whose name has this in it")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    if options.steps is None:
        options.steps = [(requests, length) for requests in options.batches
                         for length in options.lengths]
    for name in options.types:
        if name not in TYPES:
            parser.error(f"--types: got '{name}'; allowed: {', '.join(TYPES)}")
    if not torch.cuda.is_available():
        parser.error("no CUDA device")
    return options


def own_results(options):
    """What the program says; its exit code is ours when it fails."""
    words = [*options.program, "--steps", ",".join(f"{r}x{n}" for r, n in options.steps)]
    for name in ("samples", "types"):
        words += [f"--{name}", ",".join(map(str, getattr(options, name)))]
    for name in ("schemes", "scores", "bernoulli", "spreads", "query_heads", "kv_heads", "head_dimension", "runs"):
        words += ["--" + name.replace("_", "-"), str(getattr(options, name))]
    if options.energy:
        words.append("--energy")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "own.json"
        done = subprocess.run([*words, "--json", str(file)], stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            sys.exit(done.returncode)
        return json.loads(file.read_text(encoding="utf-8"))


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def added(path, results):
    """The results in `path` with those rows; exit code 2 where they are not of the same run."""
    there = json.loads(path.read_text(encoding="utf-8"))
    for name in ("commit", "protocol", "shape", "peers"):
        if there[name] != results[name]:
            fail(f"measure.py: {path}: {name} is {there[name]}, of this run {results[name]}")
    if there["device"]["name"] != results["device"]["name"]:
        fail(f"measure.py: {path} is of another device, {there['device']['name']}")
    there["rows"] += results["rows"]
    if "idle_w" in results:
        there["idle_w"] = results["idle_w"]
    return there


def make_step(options, kind, requests, length, seed):
    generator = torch.Generator("cuda").manual_seed(seed)

    def gaussian(*shape):
        return torch.randn(*shape, generator=generator, device="cuda", dtype=torch.bfloat16)

    shape = (requests, length, options.kv_heads, options.head_dimension)
    query = gaussian(requests, options.query_heads, options.head_dimension)
    caches = [gaussian(*shape) for _ in range(2)]
    if kind == "int8":
        caches = [(40 * cache).round().clamp(-127, 127) for cache in caches]
    keys, values = (cache.to(TYPES[kind]) for cache in caches)
    return Step(query.to(torch.float16) if kind == "fp16" else query, keys, values, kind)


def measure_peer(options, protocol, steps, peer):
    """Fields of a row: those of the fastest setting, and the medians of all."""
    best, times, failure = None, {}, None
    for setting, launch in peer(steps[0], options).items():
        try:
            replay = in_graph(launch)
            timed = protocol.time(replay)
        except Exception as error:  # whatever a peer raises for a shape that it does not have
            failure = " ".join(str(error).split())[:160]
            continue
        times[setting] = timed[0]
        if best is None or timed[0] < best[1][0]:
            best = (setting, timed)
    if best is None:
        raise NotRun(failure or "no setting for this shape")
    setting, (median, low, high) = best
    row = {"median_us": median, "p5_us": low, "p95_us": high}
    if setting:
        row.update(setting=setting, settings=times)
    if options.energy:
        launches = [in_graph(peer(step, options)[setting]) for step in steps]
        energy = protocol.energy(launches)
        if energy:
            row["energy"] = energy
    return row


def cell(options, protocol, kind, requests, length):
    rows = []
    element = TYPES[kind].itemsize
    cache = requests * length * options.kv_heads * options.head_dimension * element
    copies = max(1, FLUSH_BYTES // cache) if options.energy else 1
    steps = [make_step(options, kind, requests, length, seed) for seed in range(copies)]
    for name, samples, peer in peers(options.samples):
        if options.only and options.only not in name:
            continue
        row = {"kernel": name, "type": kind, "requests": requests, "length": length,
               "samples": samples, "spread": 1}
        try:
            row.update(measure_peer(options, protocol, steps, peer))
        except NotRun as reason:
            row["not_run"] = str(reason)
        except Exception as error:  # of a peer's own making
            row["not_run"] = " ".join(str(error).split())[:160]
        rows.append(row)
        print(f"{name}, {kind}, {requests} x {length}: "
              f"{row.get('median_us', row.get('not_run'))}", file=sys.stderr, flush=True)
    return rows


def main():
    options = parse()
    results = own_results(options)
    versions = {"PyTorch": torch.__version__,
                "cuDNN": ".".join(map(str, divmod(torch.backends.cudnn.version() // 100, 100)))}
    try:
        import flashinfer
        versions["FlashInfer"] = flashinfer.__version__
    except ImportError:
        pass
    results["peers"] = versions
    protocol = Protocol(options.runs, options.energy)
    for kind in () if options.no_peers else options.types:
        for requests, length in options.steps:
            results["rows"] += cell(options, protocol, kind, requests, length)
            gc.collect()
            torch.cuda.empty_cache()
    if options.add and options.json.exists():
        results = added(options.json, results)
    options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
