#!/usr/bin/env python3
"""Many calls without a key, each with a long message that comes slowly.

    tests/attack/slow_messages.py --pid $(pidof attend-server)

Prints how many of the calls have ended when all but the last byte of each
message could have been sent, and what the server's resident memory was before
and after. With --tenants all calls end at once, and memory grows by less than
16 MiB; without, it grows by what was sent, but by no more than 256 MiB.
"""

import argparse
import select
import struct
import time

import http2_frames as http2
from endless_headers import resident_mib

MIB = 1 << 20
WINDOW_UPDATE = 8


class Client:
    """A connection whose calls send as much as the server lets them."""

    def __init__(self, address, tls, path, calls, message_bytes):
        self.connection = http2.connect(address, tls)
        http2.acknowledge(self.connection)
        self.connection.setblocking(False)
        self.window = 65535
        self.windows = {}
        self.left = {}
        self.received = b""
        self.out = b""
        block = http2.request_headers(path)
        for stream in range(1, 2 * calls, 2):
            self.out += http2.frame(http2.HEADERS, http2.END_HEADERS, stream,
                                    block)
            self.windows[stream] = 65535
            self.left[stream] = message_bytes
        self.begun = set()

    def step(self):
        """Sends and receives what can be without waiting."""
        for stream in list(self.left):
            room = min(self.window, self.windows[stream], http2.MAX_FRAME)
            # The last byte never comes.
            size = min(room, self.left[stream] - 1)
            if size < 100 or len(self.out) > MIB:
                continue
            head = b"" if stream in self.begun else struct.pack(
                ">BI", 0, self.left[stream] - 5)
            self.begun.add(stream)
            self.out += http2.frame(http2.DATA, 0, stream, head.ljust(size, b"m"))
            self.window -= size
            self.windows[stream] -= size
            self.left[stream] -= size
        readable, writable, _ = select.select(
            [self.connection], [self.connection] if self.out else [], [], 0.01)
        if writable:
            self.out = self.out[self.connection.send(self.out):]
        if readable:
            self.received += self.connection.recv(MIB)
        while len(self.received) >= 9:
            size = int.from_bytes(self.received[:3], "big")
            if len(self.received) < 9 + size:
                break
            kind, flags = self.received[3], self.received[4]
            stream = int.from_bytes(self.received[5:9], "big")
            payload = self.received[9:9 + size]
            self.received = self.received[9 + size:]
            if kind == WINDOW_UPDATE:
                more = int.from_bytes(payload, "big")
                if stream == 0:
                    self.window += more
                elif stream in self.windows:
                    self.windows[stream] += more
            elif kind == http2.RST_STREAM:
                self.left.pop(stream, None)
            elif kind == http2.PING and not flags & http2.ACK:
                self.out += http2.frame(http2.PING, http2.ACK, 0, payload)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", default="127.0.0.1:50051")
    parser.add_argument("--pid", type=int, required=True, help="of the server")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--path", default="/attend.v1.Attend/Generate")
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--calls", type=int, default=16, help="a connection")
    parser.add_argument("--mib", type=int, default=8, help="of each message")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    before = resident_mib(options.pid)
    clients = [Client(options.address, options.tls, options.path.encode(),
                      options.calls, options.mib * MIB)
               for _ in range(options.connections)]
    end = time.monotonic() + options.seconds
    most = before
    while time.monotonic() < end and any(client.left for client in clients):
        for client in clients:
            client.step()
        most = max(most, resident_mib(options.pid))
    open_calls = sum(len(client.left) for client in clients)
    calls = options.connections * options.calls
    print(f"{calls - open_calls} of {calls} calls have ended after "
          f"{time.monotonic() - end + options.seconds:.1f} s, memory "
          f"{before:.0f} -> at most {most:.0f} MiB")


if __name__ == "__main__":
    main()
