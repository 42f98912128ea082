#!/usr/bin/env python3
"""Embeddings from Attend and from a Python server under the same open loop.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/embeddings_served.py --shape minilm

Unary calls of one input, random ids of 8 to 256 tokens, by `attend bench`. The
other server is peers/embedding_server.py: grpc.aio, batches of what waits. It is
tried over each runtime and precision with {all x 1, 1 x all} (workers x threads)
and batches of --max-batch in a closed loop, and the fastest is taken.

Saturation is what a closed loop of 64 calls reaches. Then calls arrive as a
Poisson process, for both at half of the Python server's saturation and at half
of Attend's; times count from when a call was due.
"""

import argparse
import json
import pathlib
import sys
import tempfile

from checkpoints import random_encoder
from harness import attend_processes, machine
from peers import encoders, processes
from workloads import encoders as workloads

IN_FLIGHT = 64


class PythonServer(processes.Server):
    def __init__(self, cli, onnx, setting):
        runtime, precision, workers, threads, max_batch = setting
        super().__init__(
            cli, f"{runtime} {precision} {workers}x{threads} batch {max_batch}",
            "embedding_server",
            [f"--runtime={runtime}", f"--precision={precision}",
             f"--model={onnx[precision == 'int8']}", f"--workers={workers}",
             f"--threads={threads}", f"--max-batch={max_batch}"])


class Load:
    def __init__(self, args, path):
        self.args = args
        self.arguments = ["--task", "embed", "--file", path, "--ids"]

    def saturation(self, server):
        """Calls a second with many in flight."""
        return self._report(server, "--concurrency", IN_FLIGHT,
                            "--requests", self.args.trial_requests,
                            "--warmup", IN_FLIGHT)["requests_per_second"]

    def open(self, server, rate):
        times = self._report(server, "--rate", f"{rate:.4f}", "--requests",
                             round(rate * self.args.seconds), "--warmup",
                             8)["end_to_end_seconds"]
        return {"rate": rate, "p50": times["p50"], "p99": times["p99"]}

    def _report(self, server, *arguments):
        report = server.bench(*self.arguments, *arguments)
        if report["errors"]:
            raise RuntimeError(f"attend bench: {report['errors']}")
        return report


def best_python_server(load, onnx, args):
    """The fastest setting in a closed loop, started, and its saturation."""
    cpus = machine.cpu()["cpus"]
    rates = {}
    for setting in [(runtime, precision, workers, threads, max_batch)
                    for runtime, precision in (name.split("-") for name in
                                               encoders.NAMES)
                    for workers, threads in sorted({(cpus, 1), (1, cpus)})
                    for max_batch in args.max_batch]:
        server = PythonServer(args.build / "client/attend", onnx, setting)
        try:
            rates[setting] = load.saturation(server)
        finally:
            server.close()
        print(f"python: {server.name}: {rates[setting]:.1f}/s in a closed loop",
              file=sys.stderr, flush=True)
    best = max(rates, key=rates.get)
    return PythonServer(args.build / "client/attend", onnx, best), rates[best]


def run(args, scratch):
    model, onnx = random_encoder.write_all(args.shape, args.models or scratch)
    sources = workloads.sources("mixed", 64000)
    path = scratch / "ids"
    path.write_text("".join(" ".join(map(str, ids)) + "\n" for ids in sources))
    load = Load(args, path)
    mine = attend_processes.Server(
        args.build, model,
        [*attend_processes.dtype_flags(args.dtype), *args.flag])
    mine.name = f"attend {args.dtype}"
    theirs = None
    try:
        saturation = {mine.name: load.saturation(mine)}
        theirs, rate = best_python_server(load, onnx, args)
        saturation[theirs.name] = rate
        rows = [load.open(server, rate / 2) | {"server": server.name,
                                               "half_of": of}
                for of, rate in reversed(saturation.items())
                for _ in range(args.rounds)
                for server in (mine, theirs)]
    finally:
        for server in filter(None, (mine, theirs)):
            server.close()
    return {"cpu": machine.cpu(), "shape": args.shape, "saturation": saturation,
            "rows": rows}


def table(result):
    lines = [machine.describe(result["cpu"], False)]
    lines += [f"{name}: saturated at {rate:.1f} calls/s"
              for name, rate in result["saturation"].items()]
    lines.append(f"{'calls/s':>8} {'p50 s':>7} {'p99 s':>7}  server")
    lines += [f"{row['rate']:>8.1f} {row['p50']:>7.4f} {row['p99']:>7.4f}  "
              f"{row['server']}" for row in result["rows"]]
    return "\n".join(lines)


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--shape", choices=random_encoder.SHAPES,
                        default="minilm")
    parser.add_argument("--dtype", default="int8")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10, help="of a round")
    parser.add_argument("--trial-requests", type=int, default=512)
    parser.add_argument("--max-batch", type=int, nargs="+", default=[8, 16],
                        help="batches of the Python server that are tried")
    parser.add_argument("--models", type=pathlib.Path,
                        help="keeps the models there, for the next run")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    args = options()
    with tempfile.TemporaryDirectory() as scratch:
        result = run(args, pathlib.Path(scratch))
    print(json.dumps(result, indent=1) if args.json else table(result))


if __name__ == "__main__":
    main()
