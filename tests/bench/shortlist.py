#!/usr/bin/env python3
"""The engine with a lexical shortlist against the engine without.

    /tmp/bench/bin/python tests/bench/shortlist.py

A model of OPUS-MT's base shape with random weights (checkpoints/
random_marian.py), and a shortlist of --targets random targets for each source
token: lists that have hardly a token in common, as no real ones. With

    --lexicon lex.s2t --pieces en.pieces

a shortlist of models/make_shortlist.py for the bundled model, whose tokens the
random model has, and sentences of their tokens, a line each (make_shortlist.py
says how to make both). Both engines take turns with the same workloads of
workloads/translation.py, forced lengths; the table has medians of tokens/s, and
the least CPU time, which other work on the machine disturbs least. Needs numpy.
What a shortlist costs in quality says quality_bleu.py, of a server with one.
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


def write_shortlist(vocabulary, targets, path):
    words = sorted(vocabulary, key=vocabulary.get)
    draw = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\t" + " ".join(words[:FREQUENT]) + "\n")
        for word in words:
            chosen = draw.sample(range(len(words) - 1), targets)
            file.write(f"{word}\t{' '.join(words[i] for i in chosen)}\n")


def sources_of(args, workload, vocabulary, eos):
    count = workloads.count_of(workload, args.requests)
    if not args.pieces:
        return workloads.random_sources(workload.sources, count,
                                        len(vocabulary), eos)
    lines = args.pieces.read_text(encoding="utf-8").splitlines()[:count]
    return [[vocabulary[token] for token in line.split()] + [eos]
            for line in lines]


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
    parser.add_argument("--lexicon", type=pathlib.Path,
                        help="lex.s2t of the bundled model's tokens")
    parser.add_argument("--pieces", type=pathlib.Path,
                        help="sources: lines of the bundled model's tokens")
    return parser.parse_args()


def main():
    args = options()
    chosen = [w for w in workloads.WORKLOADS if w.name in args.only.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        model = args.model or pathlib.Path(scratch, "model")
        if not args.model:
            random_marian.write_model(random_marian.options([str(model)]))
        config = json.loads((model / "config.json").read_text())
        vocabulary = json.loads((model / "vocab.json").read_text(encoding="utf-8"))
        path = args.lexicon or pathlib.Path(scratch, "vmap.txt")
        if not args.lexicon:
            write_shortlist(vocabulary, args.targets, path)
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
                sources = sources_of(args, workload, vocabulary,
                                     config["eos_token_id"])
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
