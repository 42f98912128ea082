#!/usr/bin/env python3
"""Mixed load for an hour: does anything grow, or stay behind?

    soak.py --server build/release/server/attend-server [--minutes 60]
            [--secured]

Calls of all kinds from several connections, over gRPC and HTTP: whole answers,
streams that are read slowly, not at all, or given up, deadlines that pass,
mutated messages, and connections that are closed in the middle. Sixty times in
an hour it prints the resident memory and what small calls took, sends SIGHUP
and has the model loaded anew. With --secured both ports have TLS, and the calls
come from two tenants. It passes (exit code 0) if, after the first sixth
of the time,

* the resident memory grows by less than 1 MiB in ten minutes (the median of the
  slopes between two points),
* the 99th percentile of the small calls of the last third is at most 1.5 times
  that of the third before,
* no gauge of work is left above 0 once the load has ended,
* no call has ended as INTERNAL or UNKNOWN, and some that did not read were cut
  off, and
* the server drains and its exit code is 0.
"""

import argparse
import itertools
import multiprocessing
import pathlib
import random
import signal
import tempfile
import threading
import time

from attacked_server import MODEL, attacked_server, report
from identities import Certificates, write_tenants
from mutated import finish, messages
from soak_load import Access, channel_of, load

WORK = ("attend_queued_requests", "attend_queued_tokens",
        "attend_running_sequences", "attend_kv_blocks_used",
        "attend_grpc_connections")
FLAGS = ["--model-control=explicit", "--slow-reader-timeout=5s"]


def secured(directory):
    """The flags of a server with TLS and tenants, the CA's file and keys."""
    certificates = Certificates(directory)
    certificate, key = certificates.sign("server")
    keys = {"first": "key-of-the-first", "second": "key-of-the-second"}
    tenants = pathlib.Path(directory) / "tenants.json"
    write_tenants(tenants, keys)
    return [f"--tls-cert={certificate}", f"--tls-key={key}", "--http-tls",
            f"--tenants={tenants}"], str(certificates.ca), [*keys.values()]


def small_calls(access, seconds):
    """The seconds that small calls take, sorted."""
    took = []
    request = messages()["Tokenize"]
    end = time.time() + seconds
    with channel_of(access, access.keys[0]) as channel:
        method = channel.unary_stream("/attend.v1.Attend/Tokenize")
        while time.time() < end:
            begin = time.monotonic()
            code, _ = finish(method(request, timeout=30))
            took.append(time.monotonic() - begin if code == "OK" else 30)
            time.sleep(0.05)
    return sorted(took)


def reload(access):
    """Loads the model anew; the error if it fails."""
    from attend_client import pb
    with channel_of(access, access.keys[0]) as channel:
        code, _ = finish(channel.unary_stream("/attend.v1.Admin/LoadModel")(
            pb.LoadModelRequest(name="en-de").SerializeToString(), timeout=600))
    return [] if code == "OK" else [code]


def watch(server, access, begin, end):
    """(seconds since begin, MiB, p99 in seconds) again and again, and the
    errors of reloads."""
    # The model from before a reload stays until its last call has been cut off.
    each = max((end - begin) / 60, 15)
    points, errors = [], []
    while time.time() < end - each:
        took = small_calls(access, each)
        point = (time.time() - begin, server.resident_mebibytes(),
                 took[int(len(took) * 0.99)])
        server.signal(signal.SIGHUP)
        errors += reload(access)
        points.append(point)
        print(f"after {point[0]:6.0f} s: RSS {point[1]:7.1f} MiB, small calls "
              f"p99 {point[2] * 1000:7.1f} ms", flush=True)
    return points, errors


def slope(points):
    """MiB of ten minutes: the median of the slopes between two points. Now and
    then a point has the memory of two models."""
    return 600 * middle([(to[1] - of[1]) / (to[0] - of[0])
                         for of, to in itertools.combinations(points, 2)])


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


def count(metrics, name, *labels):
    return int(sum(value for series, value in metrics.items()
                   if series.startswith(name) and
                   (not labels or any(label in series for label in labels))))


def soak(server, access, options):
    """What watch() has seen, gauges that are left, and the metrics."""
    begin = time.time()
    end = begin + options.minutes * 60
    context = multiprocessing.get_context("spawn")  # gRPC does not fork
    processes = [context.Process(target=load, args=(
        access, f"{options.seed}/{i}", options.at_once, options.pause, end))
        for i in range(options.processes)]
    for process in processes:
        process.start()
    points, errors = watch(server, access, begin, end)
    for process in processes:
        process.join()
    errors += [f"a client's process ended with {process.exitcode}"
               for process in processes if process.exitcode]
    return points, errors, leftovers(server), server.metrics()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--secured", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--at-once", type=int, default=8,
                        help="threads of each process")
    parser.add_argument("--pause", type=float, default=0,
                        help="seconds after each call of a thread, at most")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as directory:
        flags, ca, keys = (secured(directory) if options.secured
                           else ([], None, [None]))
        with attacked_server(options.server, f"en-de={options.model}",
                             [*FLAGS, *flags]) as server:
            access = Access(server.address, server.http, ca, keys)
            points, errors, left, metrics = soak(server, access, options)
            code = server.stop()

    warm = [point for point in points if point[0] > options.minutes * 10]
    third = len(warm) // 3
    growth = slope(warm)
    before = middle([p for _, _, p in warm[third:2 * third]])
    last = middle([p for _, _, p in warm[2 * third:]])
    broken = count(metrics, "attend_requests_total", 'code="INTERNAL"',
                   'code="UNKNOWN"')
    slow = count(metrics, "attend_slow_readers_total")
    print(f"{count(metrics, 'attend_requests_total')} calls, "
          f"{count(metrics, 'attend_model_loads_total')} loads")
    checks = {
        f"memory grows by {growth:.2f} MiB in ten minutes": growth < 1,
        f"p99 {before * 1000:.1f} ms, then {last * 1000:.1f} ms":
            last <= 1.5 * before,
        f"gauges left: {left or 'none'}": not left,
        f"{broken} calls ended as INTERNAL or UNKNOWN": broken == 0,
        f"{slow} calls were cut off, because nobody read": slow > 0,
        f"reloads and clients that failed: {errors or 'none'}": not errors,
        f"exit code {code}": code == 0,
    }
    report(checks.items())


if __name__ == "__main__":
    main()
