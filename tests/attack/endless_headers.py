#!/usr/bin/env python3
"""Connections that send header blocks without an end, or calls without an end.

    tests/attack/endless_headers.py --pid $(pidof attend-server) [--connections 8]

Prints what the server's resident memory was before, at most and after. Exit
code 1: it grew by 80 MiB or more for each connection.
"""

import argparse
import itertools
import multiprocessing
import pathlib
import re
import sys
import time

import http2_frames as http2

MIB = 1 << 20


def continuations(payloads):
    """A request whose header block goes on in ever more frames."""
    yield http2.frame(http2.HEADERS, http2.END_STREAM, 1,
                      http2.request_headers())
    for payload in payloads:
        yield http2.frame(http2.CONTINUATION, 0, 1, payload)


def large_values():
    header = http2.literal(b"a", b"b" * 4000)
    return continuations(itertools.repeat(header * 2))


def small_headers():
    header = http2.literal(b"a", b"b")
    return continuations(itertools.repeat(header * 80))


def table_entries():
    """Accept-encoding of the static table: one byte a header."""
    return continuations(itertools.repeat(b"\x90" * 150))


def empty_frames():
    return continuations(itertools.repeat(b""))


def long_string():
    """The length of a value says 2 GiB; the value comes."""
    start = b"\x00" + http2.hpack_string(b"a") + http2.hpack_integer(1 << 31, 7)
    rest = b"b" * http2.MAX_FRAME
    return continuations(itertools.chain([start], itertools.repeat(rest)))


def padded_number():
    """The length of a name in a varint that goes on with zeros."""
    start = b"\x00\x7f" + b"\x80" * 5
    rest = b"\x80" * http2.MAX_FRAME
    return continuations(itertools.chain([start], itertools.repeat(rest)))


def many_streams():
    """A header block as large as one frame for each of very many streams."""
    block = http2.request_headers(b"/nowhere") + http2.literal(b"a", b"b" * 7000)
    for stream in itertools.count(1, 2):
        yield http2.frame(http2.HEADERS, http2.END_HEADERS, stream, block)


def open_calls():
    """As many calls as allowed, whose headers are as large as they may be."""
    header = http2.literal(b"a", b"b")  # counts as 34 bytes
    block = http2.request_headers(b"/attend.v1.Attend/Generate") + header * 220
    for stream in range(1, 2000, 2):
        yield http2.frame(http2.HEADERS, 0, stream, block)
        yield http2.frame(http2.CONTINUATION, http2.END_HEADERS, stream,
                          header * 20)


def resets():
    """Calls that end as soon as they begin."""
    block = http2.request_headers(b"/attend.v1.Attend/Generate")
    for stream in itertools.count(1, 2):
        yield (http2.frame(http2.HEADERS, http2.END_HEADERS, stream, block) +
               http2.frame(http2.RST_STREAM, 0, stream, bytes([0, 0, 0, 8])))


VARIANTS = {variant.__name__: variant for variant in (
    large_values, small_headers, table_entries, empty_frames, long_string,
    padded_number, many_streams,
    open_calls, resets)}

# These do what a real client does first: acknowledge the server's settings.
ACKNOWLEDGE = {"open_calls", "resets"}


def resident_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def attack(address, tls, variant, limit):
    """Sends frames up to `limit` bytes: bytes sent, and what ended it."""
    sent = 0
    frames = VARIANTS[variant]()
    with http2.connect(address, tls) as connection:
        try:
            if variant in ACKNOWLEDGE:
                http2.acknowledge(connection)
            while sent < limit:
                chunk = b"".join(itertools.islice(frames, 64))
                if not chunk:
                    break
                connection.sendall(chunk)
                sent += len(chunk)
        except OSError as error:
            return sent, error.strerror or str(error)
        time.sleep(1)
        return sent, "the script"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", default="127.0.0.1:50051")
    parser.add_argument("--pid", type=int, required=True, help="of the server")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--mib", type=int, default=512, help="at most sent")
    parser.add_argument("--variant", choices=[*VARIANTS, "all"], default="all")
    parser.add_argument("--connections", type=int, default=1)
    options = parser.parse_args()
    names = VARIANTS if options.variant == "all" else [options.variant]
    bounded = True
    for name in names:
        before = most = resident_mib(options.pid)
        begin = time.monotonic()
        arguments = (options.address, options.tls, name, options.mib * MIB)
        with multiprocessing.Pool(options.connections) as pool:
            attacks = pool.starmap_async(attack,
                                         [arguments] * options.connections)
            while not attacks.ready():
                attacks.wait(0.02)
                most = max(most, resident_mib(options.pid))
        sent = sum(bytes_sent for bytes_sent, _ in attacks.get())
        ends = ", ".join(sorted({end for _, end in attacks.get()}))
        bounded &= most - before < 80 * options.connections
        print(f"{name}: sent {sent / MIB:.1f} MiB in "
              f"{time.monotonic() - begin:.1f} s, memory {before:.0f}, at most "
              f"{most:.0f}, then {resident_mib(options.pid):.0f} MiB, ended "
              f"by: {ends}", flush=True)
    return 0 if bounded else 1


if __name__ == "__main__":
    sys.exit(main())
