#!/usr/bin/env python3
"""Mixed load for an hour: does anything grow, or stay behind?

    soak.py --server build/release/server/attend-server [--minutes 60]

Calls of all kinds from several connections: whole answers, streams that are
read slowly or given up, deadlines that pass, mutated messages, connections
that are closed in the middle, and SIGHUP now and then. Once a minute it prints
the resident memory and what small calls take. It passes (exit code 0) if, after
the first sixth of the time,

* the resident memory grows by less than 1 MiB in ten minutes (a line through
  the measured points),
* the 99th percentile of the small calls of the last third is at most 1.5 times
  that of the third before,
* no gauge of work is left above 0 once the load has ended, and
* the server drains and its exit code is 0.
"""

import argparse
import multiprocessing
import random
import signal
import sys
import threading
import time

from attacked_server import MODEL, attacked_server
from mutated import METHODS, connect, finish, messages, mutate

WORK = ("attend_queued_requests", "attend_queued_tokens",
        "attend_running_sequences", "attend_kv_blocks_used",
        "attend_grpc_connections")
TEXTS = ("Two dogs are running through the snow.", "Hi.",
         "A man in a red shirt stands on a ladder and cleans a window. " * 4)


class Load:
    """What one thread asks for, at random."""

    def __init__(self, address, seed):
        from attend_client import pb  # mutated.py has made its path known
        self._pb = pb
        self._address = address
        self._random = random.Random(seed)
        self._valid = messages()

    def run(self, end):
        kinds = (self._whole, self._whole, self._slow_stream, self._given_up,
                 self._deadline, self._mutated)
        while time.time() < end:
            with connect(self._address) as channel:
                for _ in range(self._random.randint(1, 40)):
                    if time.time() > end:
                        break
                    self._random.choice(kinds)(channel)

    def _call(self, channel, name, timeout=30):
        pb = self._pb
        request = pb.GenerateRequest(
            inputs=[pb.Input(text=self._random.choice(TEXTS))
                    for _ in range(self._random.randint(1, 6))],
            params=pb.GenerationParams(
                num_beams=self._random.choice((1, 1, 4)),
                max_new_tokens=self._random.randint(1, 60),
                log_probs=self._random.random() < 0.2))
        method = channel.unary_stream(f"/attend.v1.Attend/{name}")
        return method(request.SerializeToString(), timeout=timeout)

    def _whole(self, channel):
        finish(self._call(channel, "Generate"))

    def _slow_stream(self, channel):
        import grpc
        try:
            for _ in self._call(channel, "GenerateStream"):
                time.sleep(self._random.random() * 0.02)
        except grpc.RpcError:
            pass  # the queue may be full

    def _given_up(self, channel):
        call = self._call(channel, "GenerateStream")
        time.sleep(self._random.random() * 0.05)
        call.cancel()

    def _deadline(self, channel):
        finish(self._call(channel, "Generate",
                          timeout=self._random.random() * 0.05))

    def _mutated(self, channel):
        name = self._random.choice(METHODS)
        method = channel.unary_stream(f"/attend.v1.Attend/{name}")
        finish(method(mutate(self._valid[name], self._random), timeout=10))


def load(address, seed, at_once, end):
    threads = [threading.Thread(target=Load(address, f"{seed}/{i}").run,
                                args=(end,)) for i in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def small_calls(address, seconds):
    """The seconds that small calls take, sorted."""
    took = []
    request = messages()["Tokenize"]
    end = time.time() + seconds
    with connect(address) as channel:
        method = channel.unary_stream("/attend.v1.Attend/Tokenize")
        while time.time() < end:
            begin = time.monotonic()
            code, _ = finish(method(request, timeout=30))
            took.append(time.monotonic() - begin if code == "OK" else 30)
            time.sleep(0.05)
    return sorted(took)


def watch(server, begin, end, each):
    """(seconds since begin, MiB, p99 in seconds) of every `each` seconds."""
    points = []
    while time.time() < end - each:
        took = small_calls(server.address, each)
        server.signal(signal.SIGHUP)
        point = (time.time() - begin, server.resident_mebibytes(),
                 took[int(len(took) * 0.99)])
        points.append(point)
        print(f"after {point[0]:6.0f} s: RSS {point[1]:7.1f} MiB, small calls "
              f"p99 {point[2] * 1000:7.1f} ms", flush=True)
    return points


def slope(points):
    """MiB of ten minutes, of a line through the points."""
    mean_t = sum(t for t, _, _ in points) / len(points)
    mean_m = sum(m for _, m, _ in points) / len(points)
    return 600 * (sum((t - mean_t) * (m - mean_m) for t, m, _ in points) /
                  sum((t - mean_t) ** 2 for t, _, _ in points))


def middle(values):
    return sorted(values)[len(values) // 2]


def leftovers(server, seconds=30):
    """Gauges of work above 0, once there has been time to end."""
    end = time.time() + seconds
    while True:
        left = {name: value for name, value in server.metrics().items()
                if name.startswith(WORK) and value != 0}
        if not left or time.time() > end:
            return left
        time.sleep(0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--at-once", type=int, default=8,
                        help="threads of each process")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()

    with attacked_server(options.server, options.model) as server:
        begin = time.time()
        end = begin + options.minutes * 60
        context = multiprocessing.get_context("spawn")  # gRPC does not fork
        processes = [context.Process(target=load, args=(
            server.address, f"{options.seed}/{i}", options.at_once, end))
            for i in range(options.processes)]
        for process in processes:
            process.start()
        points = watch(server, begin, end, options.minutes)
        for process in processes:
            process.join()
        left = leftovers(server)
        code = server.stop()

    warm = [point for point in points if point[0] > options.minutes * 10]
    third = len(warm) // 3
    growth = slope(warm)
    before = middle([p for _, _, p in warm[third:2 * third]])
    last = middle([p for _, _, p in warm[2 * third:]])
    checks = {
        f"memory grows by {growth:.2f} MiB in ten minutes": growth < 1,
        f"p99 {before * 1000:.1f} ms, then {last * 1000:.1f} ms":
            last <= 1.5 * before,
        f"gauges left: {left or 'none'}": not left,
        f"exit code {code}": code == 0,
    }
    for check, passed in checks.items():
        print("pass" if passed else "FAIL", check)
    sys.exit(0 if all(checks.values()) else 1)


if __name__ == "__main__":
    main()
