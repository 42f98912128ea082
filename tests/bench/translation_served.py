#!/usr/bin/env python3
"""Attend and a Python server over CTranslate2 under the same open-loop load.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/translation_served.py --dtype int8

Calls arrive as a Poisson process, made by `attend bench` in C++: one unary call
an input, token ids, 4 to 128 new tokens drawn for each. For both servers the
highest rate is sought at which the 99th percentile of the time from when a call
was due to its answer is under a second (--limit), and all calls succeed; then
both are measured at 30, 60 and 90 % of their own highest rate. The same seeds
give both the same calls.

peers/translation_server.py is the other server: grpc.aio, a queue, a 5 ms
window, batches, a thread pool. Before the search it is tried with CTranslate2's
settings as in translation.py and batches of --max-batch, in a closed loop, and
the fastest is taken.

The model has OPUS-MT's base shape and random weights; --bundled takes the
bundled one and the lines of --source.
"""

import argparse
import json
import pathlib
import sys
import tempfile

from checkpoints import random_marian
from harness import attend_processes, machine
from peers import processes, translators
from workloads import translation as workloads

PEER_TYPES = {"int8": "int8", "bf16": "int8", "f32": "float32"}
SHARES = (0.3, 0.6, 0.9)
TRIAL_REQUESTS, TRIAL_IN_FLIGHT = 192, 64


class PythonServer(processes.Server):
    def __init__(self, cli, converted, args, setting, max_batch):
        workers, threads, mkl, isa = setting
        environment = {"CT2_USE_MKL": str(mkl), "OMP_NUM_THREADS": str(threads)}
        if args.no_amx:
            environment |= machine.NO_AMX_ENVIRONMENT
        elif isa:
            environment["CT2_FORCE_CPU_ISA"] = isa
        super().__init__(
            cli, f"{workers}x{threads} MKL={mkl} {isa or 'default'} "
            f"batch {max_batch}", "translation_server",
            ["--model", converted, f"--workers={workers}",
             f"--threads={threads}", f"--max-batch={max_batch}",
             f"--compute-type={PEER_TYPES[args.dtype]}"], environment)


class Load:
    """The calls: inputs, lengths and how many a probe makes."""

    def __init__(self, args, path):
        self.args = args
        # Greedy said aloud: a model's own defaults may ask for beams.
        self.arguments = ["--file", path, "--ids", "--beams", 1,
                          "--timeout", "60s"]
        self.lengths = ["--output-lengths", *args.output_lengths]

    def closed(self, server, requests=TRIAL_REQUESTS, lengths=None):
        """Calls a second with many in flight."""
        report = server.bench(*self.arguments, *(lengths or self.lengths),
                              "--concurrency", TRIAL_IN_FLIGHT,
                              "--requests", requests, "--warmup", 16)
        if report["errors"]:
            raise RuntimeError(f"attend bench: {report['errors']}")
        return report["requests_per_second"]

    def trial(self, server):
        """The same of a few short calls."""
        return self.closed(server, 16, ["--output-lengths", 4, 4])

    def open(self, server, rate, seconds, seed=1):
        report = server.bench(
            *self.arguments, *self.lengths, "--rate", f"{rate:.4f}",
            "--arrival-seed", seed,
            "--requests", max(self.args.least, round(rate * seconds)),
            "--warmup", 4)
        times = report["end_to_end_seconds"]
        return {"rate": rate, "p50": times["p50"], "p99": times["p99"],
                "requests": times["count"], "errors": report["errors"],
                "tokens_per_second": report["tokens_per_second"]}


def highest_rate(load, server, args, say):
    """Doubles what a closed loop reaches until it is too much, then bisects.
    Returns the highest rate that fits, 0 if none did, and the lowest that did
    not."""
    def fits(rate):
        result = load.open(server, rate, args.seconds)
        good = not result["errors"] and result["p99"] < args.limit
        say(f"{rate:8.2f}/s p99 {result['p99']:.3f} s{'' if good else ' too high'}")
        return good

    low, high = 0.0, load.closed(server)
    while fits(high):
        low, high = high, 2 * high
    for _ in range(args.probes):
        rate = (low + high) / 2
        low, high = (rate, high) if fits(rate) else (low, rate)
    return low, high


def measure(name, load, server, args):
    def say(text):
        print(f"{name}: {text}", file=sys.stderr, flush=True)

    highest, too_high = highest_rate(load, server, args, say)
    rows = [load.open(server, share * highest, args.seconds, seed=2) |
            {"share": share} for share in SHARES] if highest else []
    return {"server": name, "highest_rate": highest, "too_high": too_high,
            "rows": rows}


def best_python_server(load, converted, args):
    """The fastest setting in a closed loop, started."""
    cli = args.build / "client/attend"
    rates, trials = {}, []
    for setting in translators.settings(machine.cpu()["cpus"], args.no_amx):
        for max_batch in args.max_batch:
            server = PythonServer(cli, converted, args, setting, max_batch)
            try:
                # MKL's int8 is many times slower on some CPUs.
                trials.append(load.trial(server))
                if trials[-1] < 0.33 * max(trials):
                    continue
                rates[setting, max_batch] = rate = load.closed(server)
            finally:
                server.close()
            print(f"python: {server.name}: {rate:.2f}/s in a closed loop",
                  file=sys.stderr, flush=True)
    setting, max_batch = max(rates, key=rates.get)
    return PythonServer(cli, converted, args, setting, max_batch)


def attend_server(model, args):
    # The other one encodes each source that comes again.
    flags = ["--prefix-cache=false", *attend_processes.dtype_flags(args.dtype),
             *args.flag]
    if args.no_amx:
        flags += machine.NO_AMX_FLAGS
    return attend_processes.Server(args.build, model, flags)


def run(args, scratch):
    model = workloads.BUNDLED if args.bundled else args.model or scratch / "model"
    if not args.bundled and not args.model:
        random_marian.write_model(random_marian.options([str(model)]))
    converted = args.converted or scratch / "converted"
    if not args.converted:
        translators.convert(model, converted)
    if args.bundled:
        sources = workloads.text_sources(args.source, 1000, model)
    else:
        config = json.loads((pathlib.Path(model) / "config.json").read_text())
        sources = workloads.random_sources("short", 256, config["vocab_size"])
    path = scratch / "ids"
    path.write_text("".join(" ".join(map(str, ids)) + "\n" for ids in sources))
    load = Load(args, path)

    results = []
    for name, start in (("attend", lambda: attend_server(model, args)),
                        ("python", lambda: best_python_server(
                            load, converted, args))):
        server = start()
        try:
            results.append(measure(name, load, server, args))
            results[-1]["setting"] = getattr(server, "name", args.dtype)
        finally:
            server.close()
    mine, theirs = results
    return {"cpu": machine.cpu(), "no_amx": args.no_amx, "dtype": args.dtype,
            "limit_seconds": args.limit, "output_lengths": args.output_lengths,
            "servers": results,
            # At least, where the other server kept the limit at no rate.
            "times_the_rate": mine["highest_rate"] /
                              (theirs["highest_rate"] or theirs["too_high"])}


def table(result):
    lines = [machine.describe(result["cpu"], result["no_amx"]),
             f"{'server':<7} {'share':>6} {'calls/s':>8} {'tokens/s':>9} "
             f"{'p50 s':>7} {'p99 s':>7}"]
    for server in result["servers"]:
        highest = (f"{server['highest_rate']:.2f}" if server["highest_rate"] else
                   f"< {server['too_high']:.2f}")
        lines.append(f"{server['server']:<7} {'100%':>6} {highest:>8}   "
                     f"highest with p99 < {result['limit_seconds']} s, "
                     f"{server['setting']}")
        for row in server["rows"]:
            lines.append(f"{'':<7} {row['share']:>6.0%} {row['rate']:>8.2f} "
                         f"{row['tokens_per_second']:>9.0f} {row['p50']:>7.3f} "
                         f"{row['p99']:>7.3f}")
    lines.append(f"{result['times_the_rate']:.2f} times the rate"
                 + ("" if result["servers"][1]["highest_rate"] else " or more"))
    return "\n".join(lines)


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--dtype", default="int8")
    parser.add_argument("--output-lengths", type=int, nargs=2, default=(4, 128))
    parser.add_argument("--limit", type=float, default=1.0,
                        help="seconds of the 99th percentile")
    parser.add_argument("--probes", type=int, default=6, help="of the bisection")
    parser.add_argument("--seconds", type=float, default=10, help="of a probe")
    parser.add_argument("--least", type=int, default=100, help="calls of a probe")
    parser.add_argument("--max-batch", type=int, nargs="+", default=[16, 64],
                        help="batches of the Python server that are tried")
    parser.add_argument("--no-amx", action="store_true",
                        help="cap both at AVX-512 VNNI")
    parser.add_argument("--model",
                        help="made by checkpoints/random_marian.py before")
    parser.add_argument("--converted", help="that model, converted before")
    parser.add_argument("--bundled", action="store_true")
    parser.add_argument("--source", help="real sentences, for --bundled")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.bundled and not args.source:
        parser.error("--bundled needs --source")
    return args


def main():
    args = options()
    with tempfile.TemporaryDirectory() as scratch:
        result = run(args, pathlib.Path(scratch))
    print(json.dumps(result, indent=1) if args.json else table(result))


if __name__ == "__main__":
    main()
