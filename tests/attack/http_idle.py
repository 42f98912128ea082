#!/usr/bin/env python3
"""Holds connections to the HTTP port; prints how long probes take beside them.

    tests/attack/http_idle.py [--port 8080] [--connections 1000] [--seconds 10]
                              [--kinds silent,trickle,keepalive,unread]

silent says nothing; trickle sends a byte of a head each second; keepalive has
had an answer and asks no more; unread asks for /metrics and does not read. A
connection that the server closes is opened again.
"""

import argparse
import itertools
import resource
import socket
import threading
import time

REQUEST = "GET {} HTTP/1.1\r\nHost: attack\r\nConnection: {}\r\n\r\n"
FIRST_BYTES = {
    "silent": "",
    "trickle": "GET /livez HTTP/1.1\r\nX-Slow: ",
    "keepalive": REQUEST.format("/livez", "keep-alive"),
    "unread": REQUEST.format("/metrics", "keep-alive"),
}
TIMEOUT = 15  # seconds; a probe of Kubernetes waits for one


def connect(address, kind):
    connection = socket.socket(
        socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
    if kind == "unread":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    connection.settimeout(TIMEOUT)
    connection.connect(address)
    connection.sendall(FIRST_BYTES[kind].encode())
    return connection


def closed(connection):
    """Whether the server has closed; takes what has arrived."""
    connection.setblocking(False)
    try:
        return connection.recv(65536) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


class Crowd(threading.Thread):
    """The connections, kept up by a thread that looks at each one a second."""

    def __init__(self, address, kinds, count):
        super().__init__(daemon=True)
        self.address = address
        self.held = [(kind, connect(address, kind)) for kind, _ in
                     zip(itertools.cycle(kinds), range(count))]
        self.opened_again = 0
        self.failed = 0
        self.stopped = threading.Event()

    def run(self):
        while not self.stopped.wait(1):
            self.held = [self.keep_up(*one) for one in self.held]

    def keep_up(self, kind, connection):
        try:
            if kind == "trickle":
                connection.send(b"x")
            if kind == "unread":  # an error of the socket, without reading
                gone = connection.getsockopt(socket.SOL_SOCKET,
                                             socket.SO_ERROR) != 0
            else:
                gone = closed(connection)
        except OSError:
            gone = True
        if not gone:
            return kind, connection
        connection.close()
        self.opened_again += 1
        try:
            connection = connect(self.address, kind)
        except OSError:
            self.failed += 1
        return kind, connection


def probe(address, path):
    """Seconds until the whole answer is there; None without a 200."""
    begin = time.perf_counter()
    try:
        with socket.create_connection(address, TIMEOUT) as connection:
            connection.sendall(REQUEST.format(path, "close").encode())
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
    except OSError:
        return None
    seconds = time.perf_counter() - begin
    return seconds if answer.startswith(b"HTTP/1.1 200 ") else None


def report(name, address, seconds):
    for path in "/livez", "/readyz", "/metrics":
        times, failed = [], 0
        end = time.perf_counter() + seconds / 3
        while time.perf_counter() < end:
            took = probe(address, path)
            if took is None:
                failed += 1
            else:
                times.append(took)
            time.sleep(0.001)
        times.sort()
        p50, p99, worst = ([f"{1e3 * times[int(share * (len(times) - 1))]:.2f}"
                            for share in (0.5, 0.99, 1)] if times
                           else ["-"] * 3)
        print(f"{name:8} {path:9} {len(times):6} answered {failed:4} failed, "
              f"ms: p50 {p50} p99 {p99} max {worst}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--kinds", default=",".join(FIRST_BYTES))
    options = parser.parse_args()
    address = (options.host, options.port)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    report("before", address, options.seconds)
    crowd = Crowd(address, options.kinds.split(","), options.connections)
    crowd.start()
    report("during", address, options.seconds)
    crowd.stopped.set()
    crowd.join()
    print(f"{crowd.opened_again} connections were closed and opened again, "
          f"{crowd.failed} could not be")


if __name__ == "__main__":
    main()
