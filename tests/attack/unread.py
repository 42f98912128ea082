#!/usr/bin/env python3
"""Long answers that nobody reads.

    build/release/server/attend-server --model models/en-de &
    tests/attack/unread.py --pid $!

Clients call Tokenize, whose answers are several times their requests, and do
not read: over gRPC nothing, over HTTP 16 KiB every ten seconds. Beside them one
client reads all of its answers.

Prints the server's resident memory before, at most, and when the clients have
gone, and how many answers the client that reads got. Answers take at most 256
MiB together; the rest is what calls take that have not been answered yet. The
client that reads gets every answer, if it has an address of its own
(--reader-source).
"""

import argparse
import json
import pathlib
import socket
import sys
import threading
import time

import grpc
from endless_headers import resident_mib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
from harness import attend_client  # noqa: E402

METHOD = "/attend.v1.Attend/Tokenize"
TEXTS = 256 * ["? " * 2000]


def over_grpc(address, held):
    """A call whose client has a small window and reads nothing."""
    channel = grpc.insecure_channel(address, options=[
        ("grpc.use_local_subchannel_pool", 1), ("grpc.http2.bdp_probe", 0),
        ("grpc.http2.lookahead_bytes", 1024)])
    call = channel.unary_stream(
        METHOD, request_serializer=lambda request: request.SerializeToString())
    held.append((channel, call(attend_client.pb.TokenizeRequest(texts=TEXTS))))


def post(host, port, source=""):
    connection = socket.create_connection(
        (host, port), 60, source_address=(source, 0) if source else None)
    body = json.dumps({"texts": TEXTS}).encode()
    connection.sendall(
        f"POST {METHOD} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return connection


def over_http(host, port):
    connection = post(host, port)
    try:
        while connection.recv(16 << 10):
            time.sleep(10)
    except OSError:
        pass  # cut off


def read_all(host, port, source, stop, ends):
    while not stop.is_set():
        answer = b""
        try:
            with post(host, port, source) as connection:
                while part := connection.recv(1 << 20):
                    answer += part
        except OSError:
            pass
        ends.append(answer.endswith(b"}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=50051)
    parser.add_argument("--http-port", type=int, default=8080)
    parser.add_argument("--pid", type=int, required=True, help="of the server")
    parser.add_argument("--reader-source", default="",
                        help="the address of the client that reads, such as "
                        "127.0.0.2")
    parser.add_argument("--clients", type=int, default=100,
                        help="over each protocol")
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()

    before = most = resident_mib(options.pid)
    held, ends, stop = [], [], threading.Event()
    for _ in range(options.clients):
        over_grpc(f"{options.host}:{options.port}", held)
        threading.Thread(target=over_http, daemon=True,
                         args=(options.host, options.http_port)).start()
    reader = threading.Thread(target=read_all, args=(
        options.host, options.http_port, options.reader_source, stop, ends))
    reader.start()
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        most = max(most, resident_mib(options.pid))
        time.sleep(0.5)
    stop.set()
    reader.join()
    for channel, _ in held:
        channel.close()
    time.sleep(5)
    print(f"memory {before:.0f} -> at most {most:.0f} MiB, then "
          f"{resident_mib(options.pid):.0f} MiB; {sum(ends)} of {len(ends)} "
          "answers were read")


if __name__ == "__main__":
    main()
