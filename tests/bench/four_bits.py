#!/usr/bin/env python3
"""One stream of a large decoder in 4 bits, against llama.cpp, from one file.

    /tmp/bench/bin/python tests/bench/four_bits.py

checkpoints/random_gguf.py makes the file: the shape of Qwen2.5-1.5B, random
weights, each matrix in Q4_0. Attend reads it in int4, and llama.cpp as it is,
with and without flash attention; both are libraries that use all CPUs. A round:
the memory is measured (attend-ops-bench: what all threads together read), then
all take turns to continue a prompt of 4 ids by 64 greedy ones. The table has
medians of tokens/s; how many times as fast Attend is, the median of the rounds;
and the share of the memory's rate at which each reads its weights: in Attend a
group of 32 numbers has 20 bytes, in llama.cpp 18. "by CPU time": the same of
Attend as if its threads had not waited for other work on the machine.

The exit code is 1 if Attend is slower than llama.cpp at its best setting, or
by CPU time reads at less than 0.8 of the memory's rate.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from checkpoints import random_gguf
from harness import attend_processes, machine
from peers.decoders import peer

PROMPT, NEW_TOKENS = 4, 64
LOWEST_ID, HIGHEST_ID = 100, 49000  # ordinary tokens
QUIET_SECONDS = 0.25  # until the threads of whoever ran before sleep
GROUP = 32
ATTEND_BYTES, PEER_BYTES = 20, 18  # of a group
LEAST_TIMES, LEAST_SHARE = 1.0, 0.8


def job(seed, new_tokens=NEW_TOKENS):
    draw = random.Random(seed)
    return {"sources": [[draw.randrange(LOWEST_ID, HIGHEST_ID)
                         for _ in range(PROMPT)]],
            "max_new_tokens": new_tokens, "min_new_tokens": new_tokens}


def memory_rate(build):
    """Bytes a second."""
    out = subprocess.run(
        [build / "tests/bench/attend-ops-bench", "--benchmark_format=json",
         "--benchmark_filter=^layer_norm/f32/1/"],
        check=True, capture_output=True, text=True).stdout
    return json.loads(out)["benchmarks"][0]["memory_gb_per_second"] * 1e9


def measure(args, runners):
    """The memory's rate, and all answers of each runner, of each round."""
    for runner in runners:
        runner.run(job("warm", 2))
    rates, answers = [], {runner.name: [] for runner in runners}
    for round_ in range(args.rounds):
        rates.append(memory_rate(args.build))
        for runner in runners:
            time.sleep(QUIET_SECONDS)
            answers[runner.name].append(runner.run(job(round_)))
    return rates, answers


def share(seconds, rates, group_bytes):
    """Of the memory's rate: the prompt is a step, as each new token is."""
    read = random_gguf.weights() * group_bytes / GROUP * NEW_TOKENS
    return statistics.median(
        read / took / rate for took, rate in zip(seconds, rates))


def show(rates, answers):
    """Prints the table; whether the limits hold."""
    seconds = {name: [answer["seconds"] for answer in all_]
               for name, all_ in answers.items()}
    print(f"memory: {statistics.median(rates) / 1e9:.1f} GB/s\n"
          f"{'tokens/s':>8} {'of memory':>9} {'faster':>7}")
    times = {name: statistics.median(
        theirs / mine for mine, theirs in zip(seconds["attend"], found))
        for name, found in seconds.items()}
    for name, found in seconds.items():
        of_memory = share(found, rates, ATTEND_BYTES if name == "attend"
                          else PEER_BYTES)
        print(f"{NEW_TOKENS / statistics.median(found):>8.1f} "
              f"{of_memory:>9.2f} {times[name]:>6.2f}x  {name}")
    by_cpu = share([answer["cpu_seconds"] / os.cpu_count()
                    for answer in answers["attend"]], rates, ATTEND_BYTES)
    print(f"{'':8} {by_cpu:>9.2f} {'':7}  attend, by CPU time")
    return min(times.values()) >= LEAST_TIMES and by_cpu >= LEAST_SHARE


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--environments", type=pathlib.Path,
                        default=attend_processes.ROOT / "build/peers",
                        help="where that of llama.cpp is, or is made")
    parser.add_argument("--model", type=pathlib.Path,
                        help="of random_gguf.py, made before")
    return parser.parse_args()


def run(args, scratch):
    model = args.model
    if model is None:
        model = scratch / "random.gguf"
        random_gguf.write(model)
    others = peer.peers("int4", ["llama.cpp"], [model, model], scratch,
                        args.environments)
    engine = attend_processes.Engine(
        args.build, model, ["--kv-cache-bytes=1GiB", "--prompt-lookup=false",
                            *attend_processes.dtype_flags("int4"), *args.flag])
    print(machine.describe(machine.cpu(), False))
    try:
        return show(*measure(args, [engine, *others]))
    finally:
        for runner in [engine, *others]:
            runner.close()


def main():
    args = options()
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(0 if run(args, pathlib.Path(scratch)) else 1)


if __name__ == "__main__":
    main()
