#!/usr/bin/env python3
"""Compares continuations with llama.cpp and CTranslate2: same weights, ids and
machine.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    CMAKE_ARGS=-DGGML_NATIVE=ON \\
        /tmp/bench/bin/pip install llama-cpp-python==0.3.36
    /tmp/bench/bin/python tests/bench/continuations.py

continues prompts of random ids with SmolLM2-135M (checkpoints/smollm2.py makes
the checkpoint; llama.cpp's own program quantises the file for llama.cpp):

    one      one prompt after the other, 32 tokens and 128 new ones
    sixteen  16 prompts at a time, 32 tokens and 64 new ones
    prompt   one prompt after the other, 1,024 tokens and a new one
    prefix   1,000 tokens that were seen before, 16 of its own, and a new one

* All are libraries here, with ids in hand: attend-engine-bench, and the peers
  in Python (peers/decoders.py). All use all CPUs for one batch.
* Numbers have the same bits: int8 is Q8_0 and CTranslate2's int8, bf16 is BF16.
* Rounds alternate between all; the table shows medians, and how many times
  faster Attend is. "matmuls": the share of its time that the same steps' matrix
  products take alone. "prefix" compares Attend with itself, as if it had not
  seen the tokens: "faster" is the time to the first new token without the prefix
  cache against that with it.
* Before anything is timed in f32, greedy ids of all are compared.
"""

import argparse
import json
import pathlib
import random
import statistics
import sys
import tempfile
import time

from checkpoints import smollm2
from harness import attend_processes, machine
from peers import decoders

QUIET_SECONDS = 0.25  # until the threads of whoever ran before sleep
LOWEST_ID, HIGHEST_ID = 100, 49000  # ordinary tokens
# (prompts, tokens of each, in flight, new tokens)
WORKLOADS = {"one": (2, 32, 1, 128), "sixteen": (16, 32, 16, 64),
             "prompt": (2, 1024, 1, 1)}
PREFIX, OWN = 1000, 16
# llama_ftype of llama.h
GGUF_TYPES = {"int8": 7, "bf16": 32, "f32": 0}


def ids(count, seed):
    draw = random.Random(str(seed))
    return [draw.randrange(LOWEST_ID, HIGHEST_ID) for _ in range(count)]


def job(workload, seed):
    prompts, tokens, in_flight, new_tokens = WORKLOADS[workload]
    return {"sources": [ids(tokens, f"{workload} {seed} {i}")
                        for i in range(prompts)],
            "in_flight": in_flight, "max_new_tokens": new_tokens,
            "min_new_tokens": new_tokens}


# ------------------------------------------------------------ models of the peers

def write_gguf(out, dtype):
    import llama_cpp
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype, params.allow_requantize = GGUF_TYPES[dtype], True
    if llama_cpp.llama_model_quantize(str(smollm2.gguf()).encode(),
                                      str(out).encode(), params):
        raise RuntimeError(f"llama.cpp does not write {out}")
    return out


def write_converted(checkpoint, out):
    from ctranslate2.converters import transformers as converters
    converters.TransformersConverter(str(checkpoint)).convert(str(out),
                                                              force=True)
    return out


def peers(models, checkpoint, dtype):
    """Those that have numbers of so many bits."""
    gguf, converted = models / f"{dtype}.gguf", models / "ctranslate2"
    if not gguf.exists():
        write_gguf(gguf, dtype)
    if not converted.exists():
        write_converted(checkpoint, converted)
    paths = {"llama.cpp": gguf, "ctranslate2": converted}
    return [decoders.Peer(runtime, dtype, path)
            for runtime, path in paths.items()
            if dtype in decoders.PRECISIONS[runtime]]


# ---------------------------------------------------------------------- measuring

def timed(runner, job_):
    time.sleep(QUIET_SECONDS)
    return runner.run(job_)["seconds"]


def figures(workload):
    """Tokens that are counted: new ones, or those of prompts."""
    prompts, tokens, _, new_tokens = WORKLOADS[workload]
    return prompts * (tokens if new_tokens == 1 else new_tokens)


def compare(workload, dtype, engine, others, args):
    runners = [engine, *others]
    for runner in runners:
        runner.run(job(workload, "warm") | {"max_new_tokens": 2,
                                            "min_new_tokens": 2})
    seconds = {runner: [] for runner in runners}
    for round_ in range(args.rounds):
        for runner in runners:
            seconds[runner].append(timed(runner, job(workload, round_)))
    median = {runner: statistics.median(all_)
              for runner, all_ in seconds.items()}
    matmuls = engine.run(job(workload, "matmuls") | {"matmuls": True})
    rows = [{
        "workload": workload, "dtype": dtype, "peer": other.name,
        "attend_per_second": figures(workload) / median[engine],
        "peer_per_second": figures(workload) / median[other],
        "times_faster": median[other] / median[engine],
        "matmul_share": matmuls["matmul_seconds"] / matmuls["seconds"],
    } for other in others]
    for row in rows:
        print(line(row), flush=True)
    return rows


def prefix(dtype, engine, args):
    """Each round has a prefix of its own, so that the first is cold."""
    cold, warm = [], []
    for round_ in range(args.rounds):
        shared = ids(PREFIX, f"prefix {round_}")
        for i, times in enumerate((cold, warm)):
            times.append(timed(engine, {
                "sources": [shared + ids(OWN, f"own {round_} {i}")],
                "max_new_tokens": 1, "min_new_tokens": 1}))
    mine, theirs = statistics.median(warm), statistics.median(cold)
    row = {"workload": "prefix", "dtype": dtype, "peer": "itself, not seen",
           "attend_per_second": (PREFIX + OWN) / mine,
           "peer_per_second": (PREFIX + OWN) / theirs,
           "times_faster": theirs / mine}
    print(line(row), flush=True)
    return row


def check(engine, others):
    """How many greedy continuations are those of Attend."""
    work = job("sixteen", "check") | {"outputs": True}
    mine = engine.run(work)["outputs"]
    for other in others:
        same = sum(a == b for a, b in zip(mine, other.run(work)["outputs"]))
        print(f"equal greedy ids, {other.name}: {same} of {len(mine)}",
              flush=True)


HEADER = (f"{'workload':<9} {'dtype':<5} {'attend /s':>10} {'peer /s':>9} "
          f"{'faster':>7} {'matmuls':>8}  peer")


def line(row):
    share = f"{row['matmul_share']:.0%}" if "matmul_share" in row else ""
    return (f"{row['workload']:<9} {row['dtype']:<5} "
            f"{row['attend_per_second']:>10.0f} {row['peer_per_second']:>9.0f} "
            f"{row['times_faster']:>6.2f}x {share:>8}  {row['peer']}")


def measure(args, models, dtype):
    checkpoint = models / "checkpoint"
    if not (checkpoint / "model.safetensors").exists():
        checkpoint.mkdir(parents=True, exist_ok=True)
        smollm2.write_checkpoint(checkpoint)
    flags = ["--kv-cache-bytes=1GiB", *attend_processes.dtype_flags(dtype),
             *args.flag]
    others = peers(models, checkpoint, dtype)
    engine = attend_processes.Engine(args.build, checkpoint, flags)
    try:
        if dtype == "f32":
            check(engine, others)
        rows = [row for workload in args.workloads
                for row in compare(workload, dtype, engine, others, args)]
        return [*rows, prefix(dtype, engine, args)]
    finally:
        for runner in [engine, *others]:
            runner.close()


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--dtypes", nargs="+", choices=GGUF_TYPES,
                        default=list(GGUF_TYPES))
    parser.add_argument("--workloads", nargs="*", choices=WORKLOADS,
                        default=list(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--models", type=pathlib.Path,
                        help="keeps the models there, for the next run")
    parser.add_argument("--json", type=pathlib.Path,
                        help="writes the rows there, too")
    return parser.parse_args()


def main():
    args = options()
    with tempfile.TemporaryDirectory() as scratch:
        models = args.models or pathlib.Path(scratch)
        models.mkdir(parents=True, exist_ok=True)
        print(machine.describe(machine.cpu(), False))
        print(HEADER)
        rows = [row for dtype in args.dtypes
                for row in measure(args, models, dtype)]
    if args.json:
        args.json.write_text(json.dumps(
            {"cpu": machine.cpu(), "rounds": args.rounds, "rows": rows},
            indent=1))


if __name__ == "__main__":
    sys.exit(main())
