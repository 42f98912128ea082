#!/usr/bin/env python3
"""Hostile clients of ports with TLS, and certificates that change under load.

    tls.py --server build/release/server/attend-server [--seconds 20]

Meanwhile clients call all the time, over a connection that stays and over new
ones, and check the server's certificate. The script passes (exit code 0) if

* handshakes that stall or trickle are ended by the server (gRPC: 20 s, HTTP:
  5 s), and so are connections that send garbage,
* nobody can negotiate anew, and nobody gets in with TLS 1.1,
* no client's call fails while others make handshakes without a pause, and while
  the files change: whole, one after the other, broken, and away,
* the server's memory has grown by less than 16 MiB in the end, and its exit
  code is 0.

Needs grpcio, grpcio-tools and the program openssl.
"""

import argparse
import pathlib
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from attacked_server import MODEL, ROOT, attacked_server, report
from identities import Certificates

sys.path.insert(0, str(ROOT / "tests/bench/harness"))

HELLO = bytes.fromhex("16030100c8010000c40303") + bytes(189)
GARBAGE = {
    "zeros": bytes(100_000),
    "random": random.Random(1).randbytes(100_000),
    "http": b"GET / HTTP/1.1\r\nHost: attack\r\n\r\n",
    "http2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9),
    "ssl2": bytes.fromhex("802e0100020015000000100100800700c0") + bytes(32),
    "long record": b"\x16\x03\x03\xff\xff" + bytes(70_000),
    "hello twice": HELLO + HELLO,
    "alerts": b"\x15\x03\x03\x00\x02\x01\x00" * 5_000,
    "heartbeat": b"\x18\x03\x03\x00\x03\x01\x40\x00",
    "early data": b"\x17\x03\x03\x40\x00" + bytes(16384),
}


class Client(threading.Thread):
    """Calls until it is stopped; one call in two over a new connection."""

    def __init__(self, address, ca):
        super().__init__(daemon=True)
        self.took = []
        self.failed = []
        self.stopped = False
        self._address = address
        self._ca = ca.read_bytes()

    def run(self):
        with self._channel() as kept:
            while not self.stopped:
                self._call(kept, "kept")
                with self._channel() as new:
                    self._call(new, "new")
                time.sleep(0.02)

    def _channel(self):
        import grpc
        return grpc.secure_channel(
            self._address, grpc.ssl_channel_credentials(self._ca),
            options=[("grpc.use_local_subchannel_pool", 1),
                     ("grpc.enable_retries", 0)])

    def _call(self, channel, name):
        import grpc
        begin = time.monotonic()
        try:
            channel.unary_unary("/attend.v1.Attend/ListModels")(b"", timeout=20)
        except grpc.RpcError as error:
            self.failed.append(f"{name}: {error.code().name} "
                               f"{error.details()[:80]}")
        self.took.append((time.monotonic() - begin) * 1000)

    def stop(self):
        self.stopped = True
        self.join()
        self.took.sort()
        p99 = self.took[int(len(self.took) * 0.99)]
        return (f"{len(self.took)} calls, p99 {p99:.0f} ms, failed: "
                f"{self.failed[:3] or 'none'}", not self.failed)


def ports(server):
    host, port = server.address.split(":")
    return {"gRPC": (host, int(port)),
            "HTTP": (host, int(server.http.rsplit(":", 1)[1]))}


def until_closed(connections, seconds, trickle=b""):
    """Seconds until the server had closed all; None: it has not."""
    begin = time.monotonic()
    while connections and time.monotonic() - begin < seconds:
        time.sleep(0.2)
        still = []
        for connection in connections:
            try:
                if trickle:
                    connection.send(trickle)
                connection.setblocking(False)
                if connection.recv(65536) == b"":
                    continue
            except BlockingIOError:
                pass
            except OSError:
                continue
            still.append(connection)
        connections = still
    return None if connections else time.monotonic() - begin


def stalled(server, options, _):
    for port, limit in ("gRPC", 20), ("HTTP", 5):
        for name, first, trickle in (("silent", b"", b""),
                                     ("half a hello", HELLO[:60], b""),
                                     ("a trickle", HELLO[:5], b"\x00")):
            held = []
            for _ in range(options.connections):
                held.append(socket.create_connection(ports(server)[port]))
                held[-1].sendall(first)
            took = until_closed(held, limit + 15, trickle)
            yield (f"{port}, {name}: {options.connections} closed after "
                   f"{took and round(took)} s",
                   took is not None and took < limit + 10)
            for connection in held:
                connection.close()


def garbage(server, options, _):
    for port in "gRPC", "HTTP":
        held = []
        for data in [*GARBAGE.values()] * 20:
            held.append(socket.create_connection(ports(server)[port]))
            held[-1].settimeout(5)
            try:
                held[-1].sendall(data)
            except OSError:
                pass  # closed already
        took = until_closed(held, 40)
        yield (f"{port}: garbage, closed after {took and round(took, 1)} s",
               took is not None)
        for connection in held:
            connection.close()


def old_ways(server, options, certificates):
    for port, address in ports(server).items():
        target = "%s:%d" % address
        anew = subprocess.run(
            ["openssl", "s_client", "-connect", target, "-tls1_2", "-alpn",
             "h2", "-CAfile", str(certificates.ca)], input="R\n" * 50,
            capture_output=True, text=True, errors="replace", timeout=60)
        yield (f"{port}: to negotiate anew, exit code {anew.returncode}",
               "RENEGOTIATING" in anew.stderr and anew.returncode != 0)
        old = subprocess.run(
            ["openssl", "s_client", "-connect", target, "-tls1_1", "-cipher",
             "ALL:@SECLEVEL=0"], input="", capture_output=True, text=True,
            errors="replace", timeout=60)
        yield (f"{port}: TLS 1.1, exit code {old.returncode}",
               "Cipher is (NONE)" in old.stdout and old.returncode != 0)


def handshakes(server, options, certificates):
    """Complete ones, and such that the client leaves in the middle."""
    end = time.time() + options.seconds
    counts, errors = [0] * 4, []
    context = ssl.create_default_context(cafile=certificates.ca)
    context.set_alpn_protocols(["h2", "http/1.1"])

    def run(number):
        address = ports(server)["gRPC" if number % 2 else "HTTP"]
        while time.time() < end:
            with socket.create_connection(address) as connection:
                if random.random() < 0.3:
                    connection.sendall(HELLO[:random.randrange(200)])
                    continue
                try:
                    context.wrap_socket(connection,
                                        server_hostname="127.0.0.1").close()
                    counts[number] += 1
                except OSError as error:
                    errors.append(str(error))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    yield (f"{sum(counts) / options.seconds:.0f} handshakes a second, failed: "
           f"{errors[:3] or 'none'}", not errors and all(counts))


def swapped(server, options, certificates):
    """Other files, whole or not, under the names that the server knows."""
    served = [certificates.directory / "served.crt",
              certificates.directory / "served.key"]
    whole = [certificates.sign(f"swap{i}", 60 + i) for i in range(4)]
    rng, changes = random.Random(1), 0
    end = time.time() + options.seconds

    def put(contents, path):
        new = path.with_suffix(".new")
        new.write_bytes(contents)
        if rng.random() < 0.5:
            new.rename(path)
        else:
            path.write_bytes(contents)
            new.unlink()

    while time.time() < end:
        pair = [pathlib.Path(file).read_bytes() for file in rng.choice(whole)]
        way = rng.choice(("whole", "whole", "apart", "cut", "garbage", "away"))
        for contents, path in zip(pair, served):
            if way == "cut":
                contents = contents[:rng.randrange(len(contents))]
            elif way == "garbage":
                contents = rng.randbytes(2000)
            put(contents, path)
            if way == "away":
                path.unlink()
            if way == "apart":
                server.signal(signal.SIGHUP)
                time.sleep(0.3)
        server.signal(signal.SIGHUP)
        time.sleep(rng.random() * 0.5)
        changes += 1
    for file, path in zip(whole[0], served):
        shutil.copy(file, path)
    server.signal(signal.SIGHUP)
    deadline = time.time() + 20
    want = ssl.PEM_cert_to_DER_cert(pathlib.Path(whole[0][0]).read_text())
    while (got := served_now(server, certificates)) != want:
        if time.time() > deadline:
            break
        time.sleep(0.2)
    yield f"{changes} changes of the files; the last is served", got == want


def served_now(server, certificates):
    context = ssl.create_default_context(cafile=certificates.ca)
    with socket.create_connection(ports(server)["HTTP"]) as connection:
        with context.wrap_socket(connection,
                                 server_hostname="127.0.0.1") as tls:
            return tls.getpeercert(binary_form=True)


def attack(options):
    with tempfile.TemporaryDirectory() as directory:
        certificates = Certificates(directory)
        certificates.sign("served")
        with attacked_server(options.server, options.model, [
                f"--tls-cert={directory}/served.crt",
                f"--tls-key={directory}/served.key", "--http-tls"]) as server:
            memory = []
            for part in (handshakes, stalled, garbage, old_ways, handshakes,
                         swapped):
                client = Client(server.address, certificates.ca)
                client.start()
                for text, passed in part(server, options, certificates):
                    yield f"{part.__name__}: {text}", passed
                text, passed = client.stop()
                yield f"  beside it {text}", passed
                time.sleep(2)
                memory.append(server.resident_mebibytes())
            yield (f"memory after each: {[round(m) for m in memory]} MiB",
                   memory[-1] < memory[0] + 16)
            code = server.stop()
            yield f"exit code {code}", code == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--seconds", type=float, default=20,
                        help="of handshakes, and of changes")
    parser.add_argument("--connections", type=int, default=200)
    report(attack(parser.parse_args()))


if __name__ == "__main__":
    main()
