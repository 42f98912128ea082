#!/usr/bin/env python3
"""A call whose message comes in small frames, between frames to be ignored.

    tests/attack/small_frames.py --pid $(pidof attend-server)

Prints what the server's resident memory was before and with the message. Exit
code 1: it grew by 80 MiB or more, where the message has at most 15 MiB.
"""

import argparse
import select
import struct
import sys
import time

import http2_frames as http2
from endless_headers import resident_mib

MIB = 1 << 20
WINDOW_UPDATE, UNKNOWN = 8, 0x20


class Sender:
    """Sends as much of a message as the server lets it."""

    def __init__(self, address, frame_bytes, ignored):
        self._connection = http2.connect(address)
        http2.acknowledge(self._connection)
        self._connection.sendall(
            http2.frame(http2.HEADERS, http2.END_HEADERS, 1,
                        http2.request_headers(b"/attend.v1.Attend/Generate")) +
            http2.frame(http2.DATA, 0, 1, struct.pack(">BI", 0, 15 * MIB)))
        self._windows = {0: 65530, 1: 65530}
        self._received = b""
        self._frame_bytes = frame_bytes
        self._frame = http2.frame(http2.DATA, 0, 1, b"m" * frame_bytes)
        if ignored:
            self._frame += http2.frame(UNKNOWN, 0, 0, b"i" * ignored)
        self.reset = False

    def send(self, message_bytes):
        sent = 0
        while sent < message_bytes and not self.reset:
            frames = min(1000, min(self._windows.values()) // self._frame_bytes)
            self._connection.sendall(self._frame * frames)
            size = frames * self._frame_bytes
            sent += size
            for stream in self._windows:
                self._windows[stream] -= size
            self._receive(0 if frames else 5)
        return sent

    def _receive(self, seconds):
        if not select.select([self._connection], [], [], seconds)[0]:
            return
        self._received += self._connection.recv(MIB)
        while len(self._received) >= 9:
            size = int.from_bytes(self._received[:3], "big")
            kind = self._received[3]
            stream = int.from_bytes(self._received[5:9], "big")
            payload = self._received[9:9 + size]
            if len(payload) < size:
                return
            self._received = self._received[9 + size:]
            if kind == WINDOW_UPDATE:
                self._windows[stream] += int.from_bytes(payload, "big")
            self.reset |= kind == http2.RST_STREAM


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", default="127.0.0.1:50051")
    parser.add_argument("--pid", type=int, required=True, help="of the server")
    options = parser.parse_args()
    good = True
    for frame_bytes, ignored, message_bytes in (
            (1, http2.MAX_FRAME, 16384), (1, 0, 14 * MIB), (24, 0, 14 * MIB),
            (1000, 0, 14 * MIB), (http2.MAX_FRAME, 0, 14 * MIB)):
        before = resident_mib(options.pid)
        sender = Sender(options.address, frame_bytes, ignored)
        sent = sender.send(message_bytes)
        time.sleep(1)
        after = resident_mib(options.pid)
        good &= after < before + 80
        print(f"{sent / MIB:.2f} MiB in frames of {frame_bytes} bytes, each "
              f"before {ignored} that are ignored: memory {before:.0f} -> "
              f"{after:.0f} MiB{', refused' if sender.reset else ''}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
