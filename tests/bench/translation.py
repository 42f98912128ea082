#!/usr/bin/env python3
"""Compares the engine with CTranslate2: same checkpoint, ids and machine.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/translation.py --source flickr2016.en

measures every workload in int8 and f32; --only greedy,alone --dtypes int8 some
of them. workloads/translation.py lists them: most on a model of OPUS-MT's base
shape with random weights (checkpoints/random_marian.py; --shape t5-base or
bart-base: T5's, BART's) and exactly 32 new tokens, the rest on the bundled model
with real sentences (--source, one a line) and natural lengths.

* Both are libraries here, with ids in hand: attend-engine-bench, and CTranslate2
  in Python. grpc_cost.py says what the server costs on top.
* CTranslate2 is tried with each setting of (workers x threads) in {all x 1, 1 x
  all}, CT2_USE_MKL in {0, 1} and the instruction set in {its choice, AVX512 if
  there}, each in a process of its own. A setting more than 3 times slower than
  the best in a first short trial is dropped. The fastest --finalists go through
  all rounds of a workload, and the best median is the one compared.
* Rounds alternate between all; the tables show medians and how many times faster
  Attend is. "matmuls": the share of its time that the same steps' matrix
  products take alone, the bound of what is left to gain.
* Before f32 is timed, greedy ids of both are compared. With random weights near
  ties between tokens occur; then a few sequences part.

Beam search of the two differs in when it stops; with forced lengths the work is
the same, with natural ones the seconds for the same sentences are compared.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

from checkpoints import random_marian, random_seq2seq
from harness import attend_processes, machine
from peers import translators
from workloads import translation as workloads

DROP_ABOVE = 3.0  # times the best setting
# CTranslate2's OpenMP threads spin for 200 ms after their work.
QUIET_SECONDS = 0.25


def peer_type(dtype):
    return "float32" if dtype == "f32" else "int8"


class Pair:
    """The engine and all settings of the peer on one model and dtype."""

    def __init__(self, args, models, dtype):
        model, converted = models
        self.eos = config_of(model)["eos_token_id"]
        flags = ["--kv-cache-bytes=1GiB",
                 "--prefix-cache=false",  # sources come again in each round
                 *attend_processes.dtype_flags(dtype), *args.flag]
        if args.no_amx:
            flags += machine.NO_AMX_FLAGS
        self.dtype = dtype
        self.engine = attend_processes.Engine(args.build, model, flags)
        self.peers = [
            translators.CTranslate2(converted, peer_type(dtype), setting,
                                    args.no_amx)
            for setting in translators.settings(machine.cpu()["cpus"],
                                                args.no_amx)]

    def keep(self, results):
        """Keeps the peers that ran, and not far slower than the best."""
        best = min(r["seconds"] for r in results.values() if r)
        for peer in list(self.peers):
            if not results[peer] or results[peer]["seconds"] > DROP_ABOVE * best:
                self.peers.remove(peer)
                peer.close()

    def warm(self, job):
        short = job | {"sources": job["sources"][:8], "max_new_tokens": 4,
                       "min_new_tokens": 0, "peer_batch": 4}
        for _ in range(2):
            results = {peer: peer.run(short) for peer in self.peers}
        self.keep(results)
        self.engine.run(short)

    def finalists(self, job, count):
        part = job | {"sources": job["sources"][:max(4, len(job["sources"]) // 4)]}
        trial = {peer: timed(peer, part) for peer in self.peers}
        return sorted(self.peers,
                      key=lambda peer: trial[peer]["seconds"])[:count]

    def close(self):
        for process in [self.engine, *self.peers]:
            process.close()


def timed(runner, job):
    time.sleep(QUIET_SECONDS)
    return runner.run(job)


def compare(pair, workload, job, args):
    """One workload's row."""
    pair.warm(job)
    finalists = pair.finalists(job, args.finalists)
    runs = {}
    for _ in range(args.rounds):
        for runner in [*finalists, pair.engine]:
            runs.setdefault(runner, []).append(timed(runner, job))
    matmuls = pair.engine.run(job | {"matmuls": True})
    median = {runner: statistics.median(run["seconds"] for run in answers)
              for runner, answers in runs.items()}
    best = min(finalists, key=median.get)
    mine, theirs = median[pair.engine], median[best]

    def rate(runner):
        return workloads.work(workload, job, runs[runner][0]) / median[runner]

    return {
        "workload": workload.name, "dtype": pair.dtype,
        "peer_dtype": peer_type(pair.dtype), "requests": len(job["sources"]),
        "counts": workload.counts, "attend_seconds": mine,
        "attend_per_second": rate(pair.engine), "peer_per_second": rate(best),
        "peer_setting": best.name, "peer_seconds": theirs,
        "times_faster": theirs / mine,
        "matmul_share": matmuls["matmul_seconds"] / matmuls["seconds"],
        "attend_steps": matmuls["steps"],
        "all_peer_seconds": {runner.name: median[runner]
                             for runner in finalists}}


def equal_ids(pair, workload, job):
    """How many greedy outputs are the same, end of sequence left out."""
    job = job | {"outputs": True}
    mine = pair.engine.run(job)["outputs"]
    theirs = pair.peers[0].run(job)["outputs"]
    equal = sum([i for i in a if i != pair.eos] == b
                for a, b in zip(mine, theirs))
    if workload.new_tokens and any(len(output) != workload.new_tokens
                                   for output in mine + theirs):
        raise RuntimeError(f"{workload.name}: lengths are not as forced")
    return {"workload": workload.name, "equal": equal, "of": len(mine)}


def measure(args, chosen, models, sources):
    """Rows and id checks, one dtype and model after the other."""
    rows, checks = [], []
    for dtype in args.dtypes:
        for model in models:
            mine = [w for w in chosen if (w.sources == "text") == (model == "text")]
            if not mine:
                continue
            pair = Pair(args, models[model], dtype)
            try:
                if dtype == "f32":
                    checks += check(pair, mine, sources)
                for workload in mine:
                    job = workloads.job(workload, sources(workload))
                    rows.append(compare(pair, workload, job, args))
                    print(line(rows[-1]), file=sys.stderr, flush=True)
            finally:
                pair.close()
    return rows, checks


def check(pair, chosen, sources):
    found = []
    for workload in chosen:
        if workload.beams == 1 and workload.new_tokens != 1:
            job = workloads.job(workload, sources(workload))
            found.append(equal_ids(pair, workload, job))
            print("equal greedy ids, {workload}: {equal} of {of}".format(
                **found[-1]), file=sys.stderr, flush=True)
    return found


HEADER = (f"{'workload':<15} {'dtype':<5} {'attend /s':>10} {'CT2 /s':>9} "
          f"{'faster':>7} {'matmuls':>8}  best CTranslate2")


def line(row):
    return (f"{row['workload']:<15} {row['dtype']:<5} "
            f"{row['attend_per_second']:>10.0f} {row['peer_per_second']:>9.0f} "
            f"{row['times_faster']:>6.2f}x {row['matmul_share']:>7.0%}  "
            f"{row['peer_dtype']} {row['peer_setting']}")


def options():
    names = [workload.name for workload in workloads.WORKLOADS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--only", help=f"of {', '.join(names)}")
    parser.add_argument("--dtypes", default="int8,f32", help="also bf16, w8, int4")
    parser.add_argument("--source", help="real sentences; without it the "
                        "workloads on the bundled model are left out")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=128,
                        help="random sources of a workload; slow ones take less")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--finalists", type=int, default=2,
                        help="settings of CTranslate2 that are measured fully")
    parser.add_argument("--no-amx", action="store_true",
                        help="cap both at AVX-512 VNNI")
    parser.add_argument("--shape", default="opus-base",
                        choices=("opus-base", *random_seq2seq.SHAPES),
                        help="of the model with random weights")
    parser.add_argument("--model", help="of that shape, made before")
    parser.add_argument("--converted", help="that model, converted before")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    args.dtypes = args.dtypes.split(",")
    for name in (args.only or "").split(",") if args.only else []:
        if name not in names:
            parser.error(f"--only: {name} is not one of {', '.join(names)}")
    return args


def config_of(model):
    return json.loads(pathlib.Path(model, "config.json").read_text())


def random_pair(args, scratch):
    model = args.model or scratch / "model"
    if not args.model and args.shape in random_seq2seq.SHAPES:
        random_seq2seq.write_model(args.shape, model)
    elif not args.model:
        random_marian.write_model(random_marian.options([str(model)]))
    if not args.converted:
        translators.convert(model, scratch / "converted")
    return model, args.converted or scratch / "converted"


def run(args, scratch):
    wanted = args.only.split(",") if args.only else None
    chosen = [w for w in workloads.WORKLOADS
              if (not wanted or w.name in wanted)
              and (w.sources != "text" or args.source)]
    models = {}
    if any(w.sources != "text" for w in chosen):
        models["random"] = random_pair(args, scratch)
        config = config_of(models["random"][0])
    if any(w.sources == "text" for w in chosen):
        translators.convert(workloads.BUNDLED, scratch / "bundled")
        models["text"] = workloads.BUNDLED, scratch / "bundled"

    def sources(workload):
        if workload.sources == "text":
            return workloads.text_sources(args.source, args.sentences,
                                          workloads.BUNDLED)
        return workloads.random_sources(
            workload.sources, workloads.count_of(workload, args.requests),
            config["vocab_size"], config["eos_token_id"])

    rows, checks = measure(args, chosen, models, sources)
    return {"cpu": machine.cpu(), "no_amx": args.no_amx, "rounds": args.rounds,
            "equal_greedy_ids": checks, "rows": rows}


def main():
    args = options()
    with tempfile.TemporaryDirectory() as scratch:
        result = run(args, pathlib.Path(scratch))
    if args.json:
        print(json.dumps(result, indent=1))
        return
    print(machine.describe(result["cpu"], args.no_amx))
    for found in result["equal_greedy_ids"]:
        print("equal greedy ids, {workload}: {equal} of {of}".format(**found))
    print("\n".join([HEADER, *map(line, result["rows"])]))


if __name__ == "__main__":
    main()
