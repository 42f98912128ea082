#!/usr/bin/env python3
"""Wrong keys, and a file of tenants that changes under load.

    keys.py --server build/release/server/attend-server [--seconds 20]

Clients without a right key call as often as they can, over gRPC and HTTP: with
keys that are random, huge, empty, almost right, no text, given twice, or of
another scheme. Meanwhile the file of tenants is written anew without a pause:
with and without one of the tenants, cut, empty, too large, or not at all. The
script passes (exit code 0) if

* no call without a right key ends with OK, and over HTTP each is 401, or 4xx
  where it is no request,
* no call of the tenant that stays in the file fails,
* the other tenant is refused while it is not in the file, and let in again,
* the log has neither a key nor a hash, metrics have no series for wrong keys,
  the memory has grown by less than 16 MiB, and the exit code is 0.

Needs grpcio and grpcio-tools.
"""

import argparse
import collections
import hashlib
import http.client
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time

import http2_frames as http2
from attacked_server import MODEL, ROOT, attacked_server, report
from identities import write_tenants
from mutated import connect, finish

sys.path.insert(0, str(ROOT / "tests/bench/harness"))

STAYS, COMES_AND_GOES = "key-that-stays", "key-that-comes-and-goes"
METHOD = "/attend.v1.Attend/ListModels"


def wrong_values(rng):
    """The value of a header `authorization` that nobody should accept."""
    right = STAYS
    return rng.choice((
        "", "Bearer", "Bearer ", f"Basic {right}", right, f"Bearer {right}x",
        f"Bearer {right[:-1]}", f"Bearer {right.upper()}",
        f"Bearer x, Bearer {right}", f"Bearer x{right}",
        f"Bearer {hashlib.sha256(right.encode()).hexdigest()}",
        "Bearer " + "k" * rng.choice((1, 100, 1000, 4000)),
        f"Bearer {rng.getrandbits(256):064x}"))


class Wrong(threading.Thread):
    """Calls with wrong keys until the time `end`; counts how they ended."""

    def __init__(self, server, kind, seed, end):
        super().__init__(daemon=True)
        self.ends = collections.Counter()
        self._server = server
        self._call = getattr(self, f"_by_{kind}")
        self._kind = kind
        self._random = random.Random(seed)
        self._end = end

    def run(self):
        while time.time() < self._end:
            self._call()

    def _by_grpc(self):
        with connect(self._server.address) as channel:
            method = channel.unary_stream(METHOD)
            for _ in range(50):
                metadata = [("authorization", wrong_values(self._random))]
                if self._random.random() < 0.1:
                    metadata *= 2
                code, _ = finish(method(b"", timeout=30, metadata=metadata))
                self.ends["gRPC", code] += 1

    def _by_http(self):
        connection = http.client.HTTPConnection(
            self._server.http.removeprefix("http://"), timeout=30)
        for _ in range(20):
            value = wrong_values(self._random)
            if self._random.random() < 0.1:
                value = "Bearer " + "k" * 20_000
            connection.request("POST", "/v1/completions", b"{}", {
                "Content-Type": "application/json", "Authorization": value})
            answer = connection.getresponse()
            answer.read()
            self.ends["HTTP", answer.status] += 1
            if answer.will_close:
                break
        connection.close()

    def _by_frames(self):
        """What no library sends: bytes that are no text, and huge keys."""
        key = self._random.choice((
            bytes(64), self._random.randbytes(300), b"Bearer \xff\xfe\x00",
            b"Bearer " + b"k" * 30_000, STAYS.encode() + b"\x00"))
        headers = http2.request_headers(METHOD.encode())
        headers += http2.literal(b"authorization", key)
        parts = [headers[i:i + http2.MAX_FRAME]
                 for i in range(0, len(headers), http2.MAX_FRAME)]
        answer = b""
        try:
            with http2.connect(self._server.address) as connection:
                http2.acknowledge(connection)
                for number, part in enumerate(parts):
                    last = number == len(parts) - 1
                    connection.sendall(http2.frame(
                        http2.CONTINUATION if number else http2.HEADERS,
                        http2.END_HEADERS * last, 1, part))
                connection.sendall(http2.frame(
                    http2.DATA, http2.END_STREAM, 1, bytes(5)))
                connection.settimeout(0.2)
                while part := connection.recv(4096):
                    answer += part
        except OSError:
            pass
        served = b"en-de" in answer  # an answer names the model
        self.ends["frames", "served" if served else "refused"] += 1


class Right(threading.Thread):
    """Calls of a tenant; `ends` are (time, code)."""

    def __init__(self, server, key):
        super().__init__(daemon=True)
        self.ends = []
        self.stopped = False
        self._address = server.address
        self._metadata = [("authorization", f"Bearer {key}")]

    def run(self):
        with connect(self._address) as channel:
            method = channel.unary_stream(METHOD)
            while not self.stopped:
                code, _ = finish(method(b"", timeout=30,
                                        metadata=self._metadata))
                self.ends.append((time.time(), code))
                time.sleep(0.005)

    def next(self):
        """The code of a call that begins now."""
        begin = len(self.ends) + 1  # one may be under way
        while len(self.ends) <= begin:
            time.sleep(0.01)
        return self.ends[begin][1]


def rewrite(server, path, end, right):
    """Changes the file until the time `end`: changes, and what was wrong."""
    rng, both = random.Random(1), {"stays": STAYS, "goes": COMES_AND_GOES}
    without = {"stays": STAYS}
    changes, wrong = 0, []
    while time.time() < end:
        keys = rng.choice((both, without))
        write_tenants(path, keys, weight=rng.randint(1, 1000))
        server.signal(signal.SIGHUP)
        wanted = "OK" if keys is both else "UNAUTHENTICATED"
        limit = time.time() + 20
        while right.next() != wanted:
            if time.time() > limit:
                wrong.append(f"change {changes}: not {wanted} after 20 s")
                break
        whole = path.read_bytes()
        spoilt = rng.choice((
            whole[:rng.randrange(len(whole))], b"", rng.randbytes(1000),
            b"[" * 100_000, whole[:-1] + b" " * (2 << 20) + b"}",
            whole.replace(b'"name"', b'"nome"', 1)))
        path.write_bytes(spoilt)
        server.signal(signal.SIGHUP)
        time.sleep(rng.random() * 0.1)
        path.unlink()
        server.signal(signal.SIGHUP)
        changes += 3
    write_tenants(path, both)
    server.signal(signal.SIGHUP)
    return changes, wrong


def attack(server, path, options):
    for name, key in ("stays", STAYS), ("goes", COMES_AND_GOES):
        right = Right(server, key)
        right.start()
        yield name, right
    end = time.time() + options.seconds
    wrong = [Wrong(server, kind, seed, end)
             for seed in range(options.clients)
             for kind in ("grpc", "http", "frames")]
    for one in wrong:
        one.start()
    yield "changes", rewrite(server, path, end, right)
    for one in wrong:
        one.join()
    yield "wrong", sum((one.ends for one in wrong), collections.Counter())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=2, help="of each kind")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "tenants.json"
        write_tenants(path, {"stays": STAYS, "goes": COMES_AND_GOES})
        with attacked_server(options.server, options.model,
                             [f"--tenants={path}"]) as server:
            list(attack(server, path, argparse.Namespace(seconds=2, clients=1)))
            memory = [server.resident_mebibytes()]
            found = dict(attack(server, path, options))
            for name in "stays", "goes":
                found[name].stopped = True
                found[name].join()
            time.sleep(2)
            memory.append(server.resident_mebibytes())
            series = len(server.metrics())
            code = server.stop()
            log = server.log()
    for (kind, end), count in sorted(found["wrong"].items(), key=str):
        print(f"  {kind:7} {end:20} {count:7}")
    let_in = {key: count for key, count in found["wrong"].items()
              if key[1] in ("OK", "served") or
              (key[0] == "HTTP" and not 400 <= key[1] < 500)}
    codes = {name: dict(collections.Counter(code for _, code in
                                            found[name].ends))
             for name in ("stays", "goes")}
    secrets = [text for key in (STAYS, COMES_AND_GOES)
               for text in (key, hashlib.sha256(key.encode()).hexdigest())
               if text in log]
    changes, wrong = found["changes"]
    checks = {
        f"wrong keys that were let in: {let_in or 'none'}": not let_in,
        f"calls of who stays: {codes['stays']}":
            codes["stays"].keys() == {"OK"},
        f"calls of who comes and goes: {codes['goes']}":
            codes["goes"].keys() == {"OK", "UNAUTHENTICATED"},
        f"{changes} changes of the file: {wrong or 'all told'}": not wrong,
        f"keys and hashes in the log: {len(secrets)}": not secrets,
        f"{series} series": series < 300,
        f"memory {memory[0]:.0f} MiB, then {memory[1]:.0f} MiB":
            memory[1] < memory[0] + 16,
        f"exit code {code}": code == 0,
    }
    report(checks.items())


if __name__ == "__main__":
    main()
