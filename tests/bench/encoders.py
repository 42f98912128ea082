#!/usr/bin/env python3
"""Compares encoders with ONNX Runtime and OpenVINO: same weights, ids, machine.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/encoders.py

embeds random ids by models of the shapes of MiniLM, BERT base, DeBERTa v3 small and
base, XLM-R large and Qwen3-Embedding 0.6B, with random weights (checkpoints/random_encoder.py):

    equal          all sources are 128 tokens long
    mixed          8 to 256 tokens, everybody takes them as they come
    mixed-sorted   the same, but the peer has them all and sorts by length

* All are libraries here, with ids in hand: attend-engine-bench with at most
  --in-flight sources at a time, and the peers in Python (peers/encoders.py).
* Peers are tried in each of their precisions, with {all x 1, 1 x all} (workers
  x threads) and batches of 16, 8 and 32, on a part of each workload. The fastest
  --finalists go through all rounds, and the best median is the one compared,
  whatever Attend's own precision.
* Rounds alternate between all. "matmuls": the share of Attend's time that the
  same steps' matrix products take alone. "of limit": the rate of its products as a
  share of oneDNN's best on this machine; and how its time divides.
* Before anything is timed, everybody's vectors are compared with those of the
  first of --peers, ONNX Runtime in f32: "cosine" is the lowest of some sources.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

from checkpoints import random_encoder
from harness import attend_processes, limits, machine
from peers import encoders
from workloads import encoders as workloads

CHECKED, TRIAL_SHARE = 8, 4
DROP_ABOVE = 1.5  # times the best peer, before other batches are tried
QUIET_SECONDS = 0.1  # until the threads of whoever ran before sleep


class Attend(attend_processes.Engine):
    def __init__(self, args, model, dtype):
        super().__init__(args.build, model,
                         [*attend_processes.dtype_flags(dtype),
                          "--prefix-cache=false",  # sources come again
                          *args.flag])
        self.name, self.dtype = f"attend {dtype}", dtype
        self.in_flight = args.in_flight

    def run(self, job):
        return super().run(job | {"task": "embed",
                                  "in_flight": self.in_flight})


def timed(runner, job):
    time.sleep(QUIET_SECONDS)
    return runner.run(job)["seconds"]


def cosine(a, b):
    def dot(x, y):
        return sum(i * j for i, j in zip(x, y))
    return dot(a, b) / (dot(a, a) * dot(b, b)) ** 0.5


def check(runners, reference):
    """The lowest cosine to the reference, by the runner's name."""
    job = {"sources": workloads.sources("mixed", 2000)[:CHECKED],
           "batch": 4, "outputs": True}
    expected = reference.run(job)["outputs"]
    return {runner.name: min(map(cosine, expected, runner.run(job)["outputs"]))
            for runner in runners}


def finalists(peers, job, count):
    """(peer, batch) of the fastest, on a part of the sources."""
    part = job | {"sources": job["sources"][:max(
        64, len(job["sources"]) // TRIAL_SHARE)]}
    first, *others = encoders.BATCHES
    seconds = {(peer, first): timed(peer, part | {"batch": first})
               for peer in peers}
    limit = DROP_ABOVE * min(seconds.values())
    for peer in [peer for peer, _ in seconds if seconds[peer, first] < limit]:
        for batch in others:
            seconds[peer, batch] = timed(peer, part | {"batch": batch})
    return sorted(seconds, key=seconds.get)[:count]


def compare(shape, name, engines, peers, rates, args):
    """A workload's rows, one for each precision of Attend."""
    workload = workloads.WORKLOADS[name]
    sources = workloads.sources(name, workloads.TOKENS[shape] * args.scale)
    job = {"sources": sources, "sort": workload.peer_sorts}
    tokens = sum(map(len, sources))
    for runner in [*engines, *peers]:
        runner.run(job | {"sources": sources[:16], "batch": 8})  # warms up
    chosen = finalists(peers, job, args.finalists)
    seconds = {}
    for _ in range(args.rounds):
        for peer, batch in chosen:
            seconds.setdefault((peer, batch), []).append(
                timed(peer, job | {"batch": batch}))
        for engine in engines:
            seconds.setdefault(engine, []).append(timed(engine, job))
    median = {runner: statistics.median(all_) for runner, all_ in
              seconds.items()}
    best = min(chosen, key=median.get)
    rows = []
    for engine in engines:
        matmuls = engine.run(job | {"matmuls": True, "ops": True})
        rows.append({
            "shape": shape, "workload": name, "dtype": engine.dtype,
            "sources": len(sources), "tokens": tokens,
            "attend_per_second": tokens / median[engine],
            "peer_per_second": tokens / median[best],
            "times_faster": median[best] / median[engine],
            "matmul_share": matmuls["matmul_seconds"] / matmuls["seconds"],
            "share": limits.of_products(
                rates, engine.dtype,
                tokens * random_encoder.token_weights(shape), median[engine]),
            "division": limits.division(matmuls),
            "peer": f"{best[0].name} batch {best[1]}",
            "all_peer_seconds": {f"{peer.name} batch {batch}":
                                 median[peer, batch]
                                 for peer, batch in chosen}})
    return rows


HEADER = (f"{'shape':<10} {'workload':<13} {'dtype':<5} {'attend tok/s':>12} "
          f"{'peer tok/s':>10} {'faster':>7} {'matmuls':>8} {limits.HEADER}  "
          "best peer")


def line(row):
    return (f"{row['shape']:<10} {row['workload']:<13} {row['dtype']:<5} "
            f"{row['attend_per_second']:>12.0f} {row['peer_per_second']:>10.0f} "
            f"{row['times_faster']:>6.2f}x {row['matmul_share']:>8.0%} "
            f"{limits.line(row)}  {row['peer']}")


def measure(shape, scratch, args):
    _, rates = limits.measure(args.build)
    model, (onnx, onnx_int8) = random_encoder.write_all(shape, scratch)
    engines = [Attend(args, model, dtype) for dtype in args.dtypes]
    peers = encoders.all_peers(machine.cpu()["cpus"], args.peers, onnx,
                               onnx_int8)
    rows = []
    try:
        cosines = check([*engines, *peers], peers[0])
        print(shape, "cosine", *(f"{name}: {value:.5f}" for name, value in
                                 cosines.items()), sep="\n  ",
              file=sys.stderr, flush=True)
        for name in args.workloads:
            rows += compare(shape, name, engines, peers, rates, args)
            print("\n".join(map(line, rows[-len(engines):])), file=sys.stderr,
                  flush=True)
    finally:
        for runner in [*engines, *peers]:
            runner.close()
    return rows, cosines


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--shapes", nargs="+", choices=random_encoder.SHAPES,
                        default=list(random_encoder.SHAPES))
    parser.add_argument("--workloads", nargs="+",
                        choices=workloads.WORKLOADS,
                        default=list(workloads.WORKLOADS))
    parser.add_argument("--dtypes", nargs="+", default=["int8", "bf16", "f32"])
    parser.add_argument("--peers", nargs="+", choices=encoders.NAMES,
                        default=encoders.NAMES, help="cosines are those to the "
                        "first; all at once need much memory")
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--finalists", type=int, default=2,
                        help="settings of the peers that are measured fully")
    parser.add_argument("--scale", type=float, default=1, help="of the tokens")
    parser.add_argument("--models", type=pathlib.Path,
                        help="keeps the models there, for the next run")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def run(args, scratch):
    results = {shape: measure(shape, scratch, args) for shape in args.shapes}
    return {"cpu": machine.cpu(), "rounds": args.rounds,
            "cosines": {shape: found for shape, (_, found) in results.items()},
            "rows": [row for rows, _ in results.values() for row in rows]}


def main():
    args = options()
    if args.models:
        args.models.mkdir(parents=True, exist_ok=True)
        result = run(args, args.models)
    else:
        with tempfile.TemporaryDirectory() as scratch:
            result = run(args, pathlib.Path(scratch))
    if args.json:
        print(json.dumps(result, indent=1))
        return
    print(machine.describe(result["cpu"], False))
    print("\n".join([HEADER, *map(line, result["rows"])]))


if __name__ == "__main__":
    main()
