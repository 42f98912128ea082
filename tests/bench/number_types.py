#!/usr/bin/env python3
"""Tokens per second of CPU time in each type of numbers, with the instructions
of each class of CPUs that this machine has.

    /tmp/bench/bin/python tests/bench/number_types.py

continues prompts of random ids with SmolLM2-135M, whose file has 4 bits, on one
thread:

    one      one prompt of 32 tokens, 64 new ones
    sixteen  16 prompts of 32 tokens at a time, 32 new ones of each
    prompt   one prompt of 1,024 tokens, a new one; its tokens are counted

Rounds alternate between all that is compared; the table has the best of each.
CPU time bears other work on the machine better than time does, yet caches and
memory are shared.
"""

import argparse
import random

from checkpoints import smollm2
from harness import attend_processes, machine

INSTRUCTIONS = ("avx2", "avx512", "avx512_vnni", "avx512_bf16", "amx")
DTYPES = ("f32", "bf16", "int8", "w8", "int4")
# (prompts, tokens of each, new tokens)
WORKLOADS = {"one": (1, 32, 64), "sixteen": (16, 32, 32),
             "prompt": (1, 1024, 1)}


def jobs():
    generator = random.Random(1)
    for prompts, length, new in WORKLOADS.values():
        yield {"sources": [[generator.randrange(100, 49000)
                            for _ in range(length)] for _ in range(prompts)],
               "in_flight": prompts, "max_new_tokens": new,
               "min_new_tokens": new}


def rate(engine, job):
    answer = engine.run(job)
    tokens = (answer["tokens"] if job["max_new_tokens"] > 1
              else len(job["sources"][0]))
    return tokens / answer["cpu_seconds"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    engines = {}
    for isa in INSTRUCTIONS:
        for dtype in DTYPES:
            engine = attend_processes.Engine(
                options.build, smollm2.gguf(),
                [f"--cpu-isa={isa}", f"--dtype={dtype}", "--threads=1",
                 "--prompt-lookup=false", "--prefix-cache=false",
                 "--kv-cache-bytes=128MiB", *options.flag])
            try:
                engine.run(next(jobs()))
                engines[isa, dtype] = engine
            except RuntimeError as error:  # the instructions cannot
                print(f"{isa}, {dtype}: {error}")
    best = {key: [0.0] * len(WORKLOADS) for key in engines}
    for _ in range(options.rounds):
        for key, engine in engines.items():
            best[key] = [max(old, rate(engine, job))
                         for old, job in zip(best[key], jobs())]
    print(machine.describe(machine.cpu(), no_amx=False), end="\n\n")
    print("| instructions | numbers |", " | ".join(WORKLOADS), "|")
    print("|---|---|" + "---|" * len(WORKLOADS))
    for (isa, dtype), rates in best.items():
        print(f"| {isa} | {dtype} |",
              " | ".join(f"{value:,.0f}" for value in rates), "|")
    for engine in engines.values():
        engine.close()


if __name__ == "__main__":
    main()
