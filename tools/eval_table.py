#!/usr/bin/env python3
"""Answers of one model for the table of docs/eval_results.md, every method on every task, in processes.

    tools/eval_table.py --model DIR --gguf-file FILE --task qa1:512 --prompts 200 --shards 16 --out DIR

Runs `python -m santasim.eval run` once for each task and shard, so many at a time as there are
shards; what is there already is kept, so a run that was stopped continues. --seconds stops it, with
exit code 3 where something is missing.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

SAMPLES = (8, 16, 32, 64, 128)
SAMPLED = ("santa", "strat", "sys")
BERNOULLI = "scores=bernoulli-group,bernoulli=8"
BATCH = 49  # rows, whatever the methods: answers depend on it


def all_methods():
    """Every scheme and budget, Bernoulli scores, and keys and values of 4 bits."""
    methods = ["values=dense"]
    methods += [f"values={values},samples={samples}" for values in ("topk", *SAMPLED)
                for samples in SAMPLES]
    methods += [f"values={values},samples={samples},{BERNOULLI}" for values in SAMPLED
                for samples in SAMPLES]
    methods += ["values=dense,key_bits=4,value_bits=4"]
    methods += [f"values={values},samples={samples},key_bits=4,value_bits=4"
                for values in ("strat", "sys") for samples in SAMPLES]
    methods += [f"values=sys,samples=64,key_bits={key},value_bits={value}"
                for key, value in ((4, 8), (8, 4))]
    methods += [f"values=sys,samples=64,scores={scores},bernoulli={draws}"
                for scores in ("bernoulli-group", "bernoulli") for draws in (8, 16, 32, 64)
                if (scores, draws) != ("bernoulli-group", 8)]
    return methods


def few_methods():
    """The sampled schemes and top-k at some budgets."""
    return ["values=dense"] + [
        f"values={values},samples={samples}" for values, budgets in (
            ("topk", (32, 128)), ("santa", (16, 64)), ("strat", (16, 64)), ("sys", SAMPLES))
        for samples in budgets]


METHODS = {"all": all_methods, "few": few_methods}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--model", required=True)
    add("--gguf-file")
    add("--task", action="append", required=True, metavar="NAME:LENGTH", help="may be given again")
    add("--methods", choices=METHODS, default="all")
    add("--prompts", type=int, default=200)
    add("--shards", type=int, default=os.cpu_count())
    add("--traces", type=int, default=2, help="prompts whose last step is kept for the energy")
    add("--device", default="cpu")
    add("--backend", default="cpu", choices=("cpu", "cuda"), help="of the golden methods")
    add("--seconds", type=float, help="stop after so long")
    add("--out", type=pathlib.Path, required=True)
    return parser.parse_args()


def command(arguments, task, shard):
    name, _, length = task.partition(":")
    methods = METHODS[arguments.methods]()
    suffix = "" if arguments.backend == "cpu" else f",backend={arguments.backend}"
    words = [sys.executable, "-m", "santasim.eval", "run", "--model", arguments.model, "--task", name,
             "--length", length, "--prompts", str(arguments.prompts), "--shard",
             f"{shard}/{arguments.shards}", "--device", arguments.device, "--batch", str(BATCH),
             "--traces", str(arguments.traces), "--out", str(arguments.out), "--method", "sdpa"]
    words += [word for method in methods for word in ("--method", f"golden:{method}{suffix}")]
    if arguments.gguf_file is not None:
        words += ["--gguf-file", arguments.gguf_file]
    return words


def log_of(arguments, task, shard):
    return arguments.out / f"{task.replace(':', '-')}.{shard}.log"


def last_line(log):
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[-1] if lines else f"ended without a word, {log}"


def main():
    arguments = parse()
    end = time.monotonic() + arguments.seconds if arguments.seconds else float("inf")
    waiting = [(task, shard) for task in arguments.task for shard in range(arguments.shards)]
    running = {}
    failed = 0
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
                   "OPENBLAS_NUM_THREADS": "1"}
    arguments.out.mkdir(parents=True, exist_ok=True)
    while (waiting or running) and time.monotonic() < end:
        while waiting and len(running) < arguments.shards:
            task, shard = waiting.pop(0)
            with open(log_of(arguments, task, shard), "w", encoding="utf-8") as log:
                running[subprocess.Popen(command(arguments, task, shard), stderr=log, stdout=log,
                                         env=environment)] = (task, shard)
        time.sleep(0.05)
        for process in [process for process in running if process.poll() is not None]:
            where = running.pop(process)
            if process.returncode != 0:
                failed = max(failed, process.returncode, 1)
                print(f"{where[0]}, shard {where[1]}: {last_line(log_of(arguments, *where))}",
                      file=sys.stderr)
    for process in running:
        process.kill()  # answers are whole lines; the next run continues
        process.wait()
    return failed or (3 if waiting or running else 0)


if __name__ == "__main__":
    sys.exit(main())
