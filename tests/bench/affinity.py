#!/usr/bin/env python3
"""Three servers whose sources come again: does each get its own?

    affinity.py --server build/release/server/attend-server [--balancer nginx]

Needs what tests/attack/replicas.py needs. Sources of some 250 tokens come again
at random; a server's cache has room for a little more than a third of them.
Each balancer once in its usual way and once by what a call begins with
(attend.Client(affinity=...)), in turns. Prints, as medians of the turns, how
many tokens of sources were in the cache, calls a second, and the CPU time of the
servers for a call.
"""

import argparse
import concurrent.futures
import pathlib
import random
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/attack"))

from replica_set import PROXIES, proxied, replica_set  # noqa: E402

WORDS = ("the a man woman dog house street runs sees takes red small old big "
         "under over near with without and station train river garden").split()


def sources(count):
    """They differ from their first words on."""
    made = random.Random(1)
    return [f"{i}: " + " ".join(made.choice(WORDS) for _ in range(240)) + "."
            for i in range(count)]


def total(replicas, name):
    return sum(value for replica in replicas
               for key, value in replica.metrics().items()
               if key.split("{")[0] == name)


def turn(options, balancer, affinity):
    """Share of hits, calls a second, CPU milliseconds for a call."""
    import attend
    texts = sources(options.sources)
    program = options.envoy if balancer == "envoy" else balancer
    names = ("attend_prefix_cache_hit_tokens_total",
             "attend_prefix_cache_queried_tokens_total",
             "process_cpu_seconds_total")
    with replica_set(options.server,
                     [f"--kv-cache-bytes={options.kv_cache_bytes}"]
                     ) as replicas, proxied(
            balancer, program, replicas,
            affinity=affinity and balancer != "client") as target:
        with attend.Client(target, affinity=64 if affinity else 0) as client, \
                concurrent.futures.ThreadPoolExecutor(4) as pool:
            def call(text):
                client.generate(text, max_new_tokens=4, num_beams=1)

            list(pool.map(call, texts))
            order = random.Random(2).choices(texts, k=options.calls)
            before = [total(replicas, name) for name in names]
            begin = time.monotonic()
            list(pool.map(call, order))
            took = time.monotonic() - begin
            hit, queried, cpu = (total(replicas, name) - value
                                 for name, value in zip(names, before))
    return hit / queried, options.calls / took, cpu / options.calls * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--balancer", action="append",
                        choices=["client", *PROXIES], help="default: all")
    parser.add_argument("--envoy", default="envoy", help="the program")
    parser.add_argument("--sources", type=int, default=120)
    parser.add_argument("--calls", type=int, default=1200)
    parser.add_argument("--kv-cache-bytes", default="20MiB")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    print("| balancer | by | tokens found in the cache | calls/s "
          "| CPU ms a call |\n|---|---|---|---|---|")
    for balancer in options.balancer or ["client", *PROXIES]:
        turns = [(turn(options, balancer, False), turn(options, balancer, True))
                 for _ in range(options.turns)]
        for i, by in enumerate(("turn or load", "beginning")):
            hits, rate, cpu = (statistics.median(column)
                               for column in zip(*(pair[i] for pair in turns)))
            print(f"| {balancer} | {by} | {hits:.0%} | {rate:.0f} | {cpu:.1f} |",
                  flush=True)


if __name__ == "__main__":
    main()
