#!/usr/bin/env python3
"""What tracing costs where nothing is sampled: CPU time of a server with a
collector and OTEL_TRACES_SAMPLER=always_off, against that of a server without.

    tests/bench/tracing_cost.py

A call that is not sampled has its cost when it begins, and none in the engine. So
the calls are the cheapest that there are: one sentence to /tokenize, of which
tracing has the largest share. The servers take turns, each round in another order;
a third has no collector either, and shows how far two equal servers are apart.
Printed are medians of --rounds: the CPU time of a call, and what it has more than
the first server's in the same round.
"""

import argparse
import http.client
import os
import statistics
from unittest import mock

from harness import attend_processes

# Nobody has to listen there: no span is exported.
ENDPOINT = "http://127.0.0.1:4317"
UNSAMPLED = {"OTEL_EXPORTER_OTLP_ENDPOINT": ENDPOINT,
             "OTEL_TRACES_SAMPLER": "always_off"}
BODY = '{"prompt": "Two dogs are playing in the snow."}'
HEADERS = {"Content-Type": "application/json"}
WAYS = {"none": {}, "none again": {}, "always_off": UNSAMPLED}


class Called:
    """A server, and one open connection to it."""

    def __init__(self, build, flags):
        port = attend_processes.free_port()
        self.server = attend_processes.Server(
            build, attend_processes.ROOT / "models/en-de",
            [f"--http-port={port}", "--threads=1", *flags])
        self.connection = http.client.HTTPConnection("127.0.0.1", port)

    def microseconds_a_call(self, calls):
        before = self.server.cpu_seconds()
        for _ in range(calls):
            self.connection.request("POST", "/tokenize", BODY, HEADERS)
            with self.connection.getresponse() as answer:
                if not answer.read().startswith(b"{") or answer.status != 200:
                    raise RuntimeError(f"/tokenize: {answer.status}")
        return 1e6 * (self.server.cpu_seconds() - before) / calls

    def close(self):
        self.connection.close()
        self.server.close()


def measure(servers, rounds, calls):
    names = list(servers)
    times = {name: [] for name in names}
    for round_ in range(rounds + 1):
        first = round_ % len(names)
        for name in names[first:] + names[:first]:
            result = servers[name].microseconds_a_call(calls)
            if round_:  # the first warms up
                times[name].append(result)
    return times


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--calls", type=int, default=100,
                        help="of each server in a round")
    args = parser.parse_args()
    servers = {}
    try:
        for name, variables in WAYS.items():
            with mock.patch.dict(os.environ, variables):
                servers[name] = Called(args.build, args.flag)
        times = measure(servers, args.rounds, args.calls)
    finally:
        for server in servers.values():
            server.close()
    for name, own in times.items():
        more = statistics.median(
            mine - plain for mine, plain in zip(own, times["none"]))
        print(f"{name:<11} {statistics.median(own):7.2f} us a call, "
              f"{more:+.2f} us")


if __name__ == "__main__":
    main()
