#!/usr/bin/env python3
"""Calls after a second of idleness, and calls one after the other.

    idle.py --server build/release/server/attend-server [--rounds 120]

One client waits for a second, makes a small call, and then twenty more without
a pause, again and again. After idleness a call should take at most twice as
long as the others (p50), at most three times (p99), and a server that nobody
calls almost no CPU time: below 1 % of a core. Nothing else should run on the
machine. Where other machines share its caches, memory that nobody has read for
a second is slow at first: on one, a product of a matrix of 8 MB and a vector
then took three times as long. The server's own times come from its log. Needs
grpcio and grpcio-tools.
"""

import argparse
import os
import pathlib
import re
import sys
import time

from attacked_server import MODEL, ROOT, attacked_server, report

sys.path.insert(0, str(ROOT / "tests/bench/harness"))


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1]
    ticks = fields.split()[11:13]  # utime, stime
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def measure(address, rounds, at_once):
    """Seconds of each call by its id; "idle-N" came after a pause."""
    import grpc
    from attend_client import params, pb
    request = pb.GenerateRequest(inputs=[pb.Input(text="A dog.")],
                                 params=params(1, 4)).SerializeToString()
    took = {}
    with grpc.insecure_channel(address) as channel:
        generate = channel.unary_unary("/attend.v1.Attend/Generate")

        def call(name):
            begin = time.monotonic()
            generate(request, timeout=30,
                     metadata=[("x-request-id", name)])
            took[name] = time.monotonic() - begin

        for number in range(200):
            call(f"warm-{number}")
        for number in range(rounds):
            time.sleep(1)
            call(f"idle-{number}")
            for other in range(at_once):
                call(f"busy-{number}-{other}")
    return took


def at(seconds, share):
    ordered = sorted(seconds)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] * 1000


def ratios(side, took):
    """Prints p50 and p99 of both kinds; what idleness makes of them."""
    busy, idle = ([seconds for name, seconds in took.items()
                   if name.startswith(kind)] for kind in ("busy-", "idle-"))
    found = []
    for share in 0.5, 0.99:
        found.append(at(idle, share) / at(busy, share))
        print(f"{side}, p{share * 100:.0f}: back to back {at(busy, share):.2f} "
              f"ms, after a second {at(idle, share):.2f} ms", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--rounds", type=int, default=120)
    parser.add_argument("--at-once", type=int, default=20)
    options = parser.parse_args()
    with attacked_server(options.server, options.model) as server:
        took = measure(server.address, options.rounds, options.at_once)
        time.sleep(2)
        before = cpu_seconds(server.pid)
        time.sleep(20)
        used = (cpu_seconds(server.pid) - before) / 20
        code = server.stop()
        own = {found[1]: float(found[2]) for found in re.finditer(
            r"event=call id=(\S+) .*? seconds=(\S+)", server.log())}
    p50, p99 = ratios("client", took)
    ratios("server", own)
    checks = {
        f"p50 after a second {p50:.2f} times that back to back": p50 <= 2,
        f"p99 after a second {p99:.2f} times that back to back": p99 <= 3,
        f"CPU time of the idle server {used * 100:.2f} %": used < 0.01,
        f"exit code {code}": code == 0,
    }
    report(checks.items())


if __name__ == "__main__":
    main()
