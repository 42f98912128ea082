#!/usr/bin/env python3
"""The engine with a lexical shortlist against the engine without.

    /tmp/bench/bin/python tests/bench/shortlist.py

A model of OPUS-MT's base shape with random weights (checkpoints/
random_marian.py), and a shortlist of --targets random targets for each source
token: more than sources have in common of real ones. Both engines take turns
with the same workloads of workloads/translation.py, forced lengths; the table
has medians of tokens/s, and the least CPU time, which other work on the machine
disturbs least. Needs numpy. What a shortlist costs in quality says
quality_bleu.py, of a server with one.
"""

import argparse
import json
import pathlib
import random
import statistics
import tempfile

from checkpoints import random_marian
from harness import attend_processes, machine
from workloads import translation as workloads

FREQUENT = 100  # targets of every source


def write_shortlist(model, targets, path):
    vocabulary = json.loads((model / "vocab.json").read_text(encoding="utf-8"))
    words = sorted(vocabulary, key=vocabulary.get)
    draw = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\t" + " ".join(words[:FREQUENT]) + "\n")
        for word in words:
            chosen = draw.sample(range(len(words) - 1), targets)
            file.write(f"{word}\t{' '.join(words[i] for i in chosen)}\n")


def measure(engines, job, rounds):
    runs = {name: [] for name in engines}
    for engine in engines.values():
        engine.run(job | {"sources": job["sources"][:4]})
    for _ in range(rounds):
        for name, engine in engines.items():
            runs[name].append(engine.run(job))
    return {name: {"tokens_per_second": statistics.median(
                       run["tokens"] / run["seconds"] for run in answers),
                   "cpu_seconds": min(run["cpu_seconds"] for run in answers)}
            for name, answers in runs.items()}


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--only", default="greedy,beam4,alone",
                        help="workloads of workloads/translation.py")
    parser.add_argument("--dtypes", default="int8,f32")
    parser.add_argument("--targets", type=int, default=100)
    parser.add_argument("--requests", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", type=pathlib.Path,
                        help="of random_marian.py, made before")
    return parser.parse_args()


def main():
    args = options()
    chosen = [w for w in workloads.WORKLOADS if w.name in args.only.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        model = args.model or pathlib.Path(scratch, "model")
        if not args.model:
            random_marian.write_model(random_marian.options([str(model)]))
        config = json.loads((model / "config.json").read_text())
        path = pathlib.Path(scratch, "vmap.txt")
        write_shortlist(model, args.targets, path)
        print(machine.describe(machine.cpu(), False))
        print(f"{'workload':<10} {'dtype':<5} {'without /s':>11} {'with /s':>9} "
              f"{'faster':>7} {'CPU s':>13} {'less':>6}")
        for dtype in args.dtypes.split(","):
            flags = ["--prefix-cache=false", *args.flag,
                     *attend_processes.dtype_flags(dtype)]
            engines = {
                "without": attend_processes.Engine(args.build, model, flags),
                "with": attend_processes.Engine(
                    args.build, model, [*flags, f"--shortlist={path}"])}
            for workload in chosen:
                sources = workloads.random_sources(
                    workload.sources,
                    workloads.count_of(workload, args.requests),
                    config["vocab_size"], config["eos_token_id"])
                found = measure(engines, workloads.job(workload, sources),
                                args.rounds)
                show(workload, dtype, found)
            for engine in engines.values():
                engine.close()


def show(workload, dtype, found):
    without, listed = found["without"], found["with"]
    print(f"{workload.name:<10} {dtype:<5} "
          f"{without['tokens_per_second']:>11.0f} "
          f"{listed['tokens_per_second']:>9.0f} "
          f"{listed['tokens_per_second'] / without['tokens_per_second']:>6.2f}x "
          f"{without['cpu_seconds']:>6.1f} {listed['cpu_seconds']:>6.1f} "
          f"{without['cpu_seconds'] / listed['cpu_seconds']:>5.2f}x",
          flush=True)


if __name__ == "__main__":
    main()
