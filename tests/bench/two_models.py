#!/usr/bin/env python3
"""What clients of one model do to the calls of another tenant to a small one.

    python3 tests/bench/two_models.py

One server with the bundled model and with a larger one of random weights
(checkpoints/random_marian.py, in the shape of OPUS-MT). One client translates
sentences with the bundled model, one after the other: alone, and while clients
of another tenant keep the larger model busy. The table shows the latency of
the small model's calls, and the time of a step of the larger model: that
between two tokens while nobody calls the small one. The exit code is 1 if a
median is more than three times the median alone and a step. Needs numpy.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import attend_processes, machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL, LARGE = "small-key", "large-key"
NEW_TOKENS = 25


def tenants(path):
    path.write_text(json.dumps({"tenants": [
        {"name": key, "keys": [hashlib.sha256(key.encode()).hexdigest()]}
        for key in (SMALL, LARGE)]}))
    return path


def start_bench(server, key, *arguments):
    return subprocess.Popen(
        [server.cli, "bench", "--address", server.address, "--json", "--stream",
         *(str(argument) for argument in arguments)],
        env={**os.environ, "ATTEND_TOKEN": key}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def report(process):
    out, error = process.communicate()
    if not out:
        raise RuntimeError(f"attend bench: {error}")
    found = json.loads(out)
    if found.get("errors"):
        raise RuntimeError(found["errors"])
    return found


def small(server, args):
    return report(start_bench(server, SMALL, "--model", "small",
                              "--concurrency", 1, "--requests", args.calls))


def start_large(server, clients, requests):
    return start_bench(server, LARGE, "--model", "large", "--concurrency",
                       clients, "--requests", requests, "--min-new-tokens",
                       NEW_TOKENS, "--max-new-tokens", NEW_TOKENS)


def measure(server, args):
    small(server, args)  # warms up
    alone = small(server, args)["end_to_end_seconds"]
    print(f"small model alone: p50 {1e3 * alone['p50']:.1f} ms, "
          f"p99 {1e3 * alone['p99']:.1f} ms")
    print("clients  small p50 ms    p99   step ms p50")
    good = True
    for clients in args.clients:
        quiet = report(start_large(server, clients, 10 * clients))
        rate = quiet["requests_per_second"]
        busy = start_large(server, clients, max(int(args.seconds * rate),
                                                10 * clients))
        beside = small(server, args)["end_to_end_seconds"]
        ended = busy.poll() is not None
        busy.terminate()
        busy.communicate()
        step = quiet["inter_token_seconds"]["p50"]
        good &= beside["p50"] <= 3 * alone["p50"] + step
        print(f"{clients:>7} {1e3 * beside['p50']:>13.1f} "
              f"{1e3 * beside['p99']:>6.1f} {1e3 * step:>13.1f}"
              f"{'  (ended before: raise --seconds)' if ended else ''}",
              flush=True)
    return good


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--checkpoint", type=pathlib.Path,
                        help="made by checkpoints/random_marian.py before")
    parser.add_argument("--clients", type=int, nargs="+", default=[12, 40])
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    return parser.parse_args()


def main():
    args = options()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        large = args.checkpoint or scratch / "large"
        if not large.exists():
            subprocess.run([sys.executable,
                            ROOT / "tests/bench/checkpoints/random_marian.py",
                            large], check=True)
        os.environ["ATTEND_TOKEN"] = SMALL
        server = attend_processes.Server(
            args.build, f"small={ROOT / 'models/en-de'}",
            ["--model", f"large={large}", "--tenants",
             str(tenants(scratch / "tenants.json")), *args.flag])
        try:
            print(machine.describe(machine.cpu(), False))
            good = measure(server, args)
        finally:
            server.close()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
