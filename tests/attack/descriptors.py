#!/usr/bin/env python3
"""More connections than the server has descriptors.

    (ulimit -n 256 && attend-server ...)
    tests/attack/descriptors.py --connections 300

An older channel and the HTTP port should go on while all are open. When they
have gone, a new connection should be answered within a second.
"""

import argparse
import contextlib
import time
import urllib.error
import urllib.request

import http2_frames as http2


def answer(address, timeout=5):
    """What a new connection gets from the gRPC port, and after how long."""
    begin = time.monotonic()
    try:
        with http2.connect(address, timeout=timeout) as connection:
            got = "settings" if connection.recv(9) else "closed"
    except OSError as error:
        got = f"no answer ({error})"
    return f"{got} after {time.monotonic() - begin:.3f} s"


def pong(connection):
    """What an older channel answers to a ping."""
    connection.sendall(http2.frame(http2.PING, 0, 0, bytes(8)))
    try:
        return "answers" if connection.recv(1000) else "was closed"
    except OSError as error:
        return f"is dead ({error})"


def http_status(address, path):
    try:
        with urllib.request.urlopen(f"http://{address}{path}",
                                    timeout=5) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError as error:
        return f"no answer ({error})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", default="127.0.0.1:50051")
    parser.add_argument("--http-address", default="127.0.0.1:8080")
    parser.add_argument("--connections", type=int, default=300)
    options = parser.parse_args()

    def report(when):
        checks = {path: http_status(options.http_address, path)
                  for path in ("/livez", "/readyz")}
        print(f"{when}: new connection: {answer(options.address)}; "
              f"older channel {pong(older)}; {checks}", flush=True)

    with contextlib.ExitStack() as stack:
        older = stack.enter_context(http2.connect(options.address))
        older.recv(1000)
        report("before")
        with contextlib.ExitStack() as flood:
            for _ in range(options.connections):
                with contextlib.suppress(OSError):
                    flood.enter_context(http2.connect(options.address))
            report(f"with {options.connections} more")
        for seconds in (0, 1):
            time.sleep(seconds)
            report(f"{seconds} s after they have gone")


if __name__ == "__main__":
    main()
