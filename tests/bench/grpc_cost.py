#!/usr/bin/env python3
"""What serving costs: CPU seconds a token of the server against the engine's.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install numpy==2.4.6
    /tmp/bench/bin/python tests/bench/grpc_cost.py --dtypes int8,f32

The same work three ways, alternating: attend-engine-bench (no server), and
attend-server called by `attend bench`, unary and streaming, one request a call,
token ids in, 64 in flight, 32 new tokens, on a model of OPUS-MT's base shape
with random weights. CPU seconds are user and system time of all threads of the
process that computes; the load generator's own are not in them. Medians of
--rounds.
"""

import argparse
import json
import pathlib
import statistics
import tempfile

from checkpoints import random_marian
from harness import attend_processes, machine
from workloads import translation as workloads

IN_FLIGHT, NEW_TOKENS = 64, 32


def engine_run(engine, sources):
    answer = engine.run({
        "sources": sources, "in_flight": IN_FLIGHT,
        "max_new_tokens": NEW_TOKENS, "min_new_tokens": NEW_TOKENS})
    return answer["cpu_seconds"], answer["seconds"], answer["tokens"]


def server_run(server, path, requests, stream):
    before = server.cpu_seconds()
    report = server.bench(
        "--file", path, "--ids", "--requests", requests, "--warmup", 0,
        "--concurrency", IN_FLIGHT, "--beams", 1,
        "--max-new-tokens", NEW_TOKENS,
        "--min-new-tokens", NEW_TOKENS, *(["--stream"] if stream else []))
    if report["errors"]:
        raise RuntimeError(f"attend bench: {report['errors']}")
    return (server.cpu_seconds() - before, report["elapsed_seconds"],
            report["generated_tokens"])


def measure(args, model, sources, path, dtype):
    # Both ways encode the same sources.
    flags = ["--prefix-cache=false", *attend_processes.dtype_flags(dtype),
             *args.flag]
    if args.no_amx:
        flags += machine.NO_AMX_FLAGS
    engine = attend_processes.Engine(args.build, model, flags)
    try:
        server = attend_processes.Server(args.build, model, flags)
    except BaseException:
        engine.close()
        raise
    ways = {"engine": lambda: engine_run(engine, sources),
            "unary": lambda: server_run(server, path, len(sources), False),
            "stream": lambda: server_run(server, path, len(sources), True)}
    runs = {name: [] for name in ways}
    try:
        for round_ in range(args.rounds + 1):
            for name, way in ways.items():
                result = way()
                if round_:  # the first warms up
                    runs[name].append(result)
    finally:
        server.close()
        engine.close()
    cpu = {name: statistics.median(c / tokens for c, _, tokens in results)
           for name, results in runs.items()}
    speed = {name: statistics.median(tokens / s for _, s, tokens in results)
             for name, results in runs.items()}
    return [{"dtype": dtype, "way": name, "cpu_ms_per_token": 1e3 * cpu[name],
             "against_engine": cpu[name] / cpu["engine"],
             "tokens_per_second": speed[name]} for name in ways]


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--dtypes", default="int8,f32")
    parser.add_argument("--requests", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-amx", action="store_true")
    parser.add_argument("--model",
                        help="made by checkpoints/random_marian.py before")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    args = options()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        model = args.model or f"{scratch}/model"
        if not args.model:
            random_marian.write_model(random_marian.options([model]))
        config = json.loads((pathlib.Path(model) / "config.json").read_text())
        sources = workloads.random_sources("short", args.requests,
                                           config["vocab_size"])
        path = pathlib.Path(scratch) / "ids"
        path.write_text("".join(" ".join(map(str, ids)) + "\n"
                                for ids in sources))
        for dtype in args.dtypes.split(","):
            rows += measure(args, model, sources, path, dtype)
    info = machine.cpu()
    if args.json:
        print(json.dumps({"cpu": info, "no_amx": args.no_amx, "rows": rows},
                         indent=1))
        return
    print(machine.describe(info, args.no_amx))
    print(f"{'dtype':<5} {'way':<7} {'CPU ms/token':>12} {'against engine':>15} "
          f"{'tokens/s':>9}")
    for row in rows:
        print(f"{row['dtype']:<5} {row['way']:<7} {row['cpu_ms_per_token']:>12.3f} "
              f"{row['against_engine']:>15.3f} {row['tokens_per_second']:>9.0f}")


if __name__ == "__main__":
    main()
