"""Three servers and, before them, a proxy with the configuration of
deploy/proxies: on ports of their own."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from attacked_server import MODEL, ROOT
from cutting_relay import CuttingRelay

# What makes calls that begin alike go to one replica.
BY_AFFINITY = {
    "envoy": ("lb_policy: LEAST_REQUEST", "lb_policy: RING_HASH"),
    "nginx": ("  least_conn;", "  hash $http_x_attend_affinity consistent;"),
    "haproxy": ("balance leastconn", "balance hdr(x-attend-affinity)\n"
                "    hash-type consistent"),
}
PROXIES = {
    "envoy": ("envoy.yaml", ["--log-level", "error", "--concurrency", "1",
                             "--base-id", "7", "-c"]),
    "nginx": ("nginx.conf", ["-g", "daemon off;", "-c"]),
    "haproxy": ("haproxy.cfg", ["-f"]),
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(what, is_so):
    limit = time.monotonic() + 60
    while not is_so():
        if time.monotonic() > limit:
            raise SystemExit(f"{what}: not within a minute")
        time.sleep(0.05)


def accepts(port):
    with contextlib.suppress(OSError), socket.create_connection(
            ("127.0.0.1", port), 1):
        return True
    return False


class Replica:
    """A server that may be killed, frozen, slowed down and started again."""

    def __init__(self, binary, flags=(), model=MODEL):
        self.port, self.http_port = free_port(), free_port()
        self.model = model
        self._log = tempfile.NamedTemporaryFile()
        self._command = [
            binary, "--host=127.0.0.1",
            f"--port={self.port}", "--http-host=127.0.0.1",
            f"--http-port={self.http_port}", "--kv-cache-bytes=64MiB",
            "--threads=1", "--drain-delay=3s", "--access-log=json",
            f"--access-log-file={self._log.name}", *flags]
        self.relay = CuttingRelay(self.port)
        self.start()

    def start(self):
        self._process = subprocess.Popen(
            [*self._command, f"--model={self.model}"],
            stderr=subprocess.DEVNULL)
        wait_for("a server", self._ready)

    def _ready(self):
        if self._process.poll() is not None:
            raise SystemExit(f"a server ended: {self._process.returncode}")
        with contextlib.suppress(OSError), urllib.request.urlopen(
                f"http://127.0.0.1:{self.http_port}/readyz", timeout=1):
            return True
        return False

    def metrics(self):
        """Values by name with labels."""
        with urllib.request.urlopen(
                f"http://127.0.0.1:{self.http_port}/metrics") as page:
            lines = page.read().decode().splitlines()
        return {name: float(value) for name, value in
                (line.rsplit(" ", 1) for line in lines
                 if not line.startswith("#"))}

    def access_log(self):
        """A dictionary of each call that has ended."""
        return [json.loads(line) for line in
                pathlib.Path(self._log.name).read_text().splitlines()]

    def kill(self):
        self._process.kill()
        self._process.wait()

    def restart(self):
        self._process.terminate()
        if self._process.wait(90):
            raise SystemExit(f"exit code {self._process.returncode}")
        self.start()

    def freeze(self):
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self._process.send_signal(signal.SIGCONT)

    def slow_down(self, seconds, share):
        """It runs for this share of the time only."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.freeze()
            time.sleep(0.05 * (1 - share))
            self.thaw()
            time.sleep(0.05 * share)

    def stop(self):
        self.thaw()
        self._process.kill()
        self._process.wait()
        self.relay.stop()
        self._log.close()


@contextlib.contextmanager
def next_version():
    """The directory of a model of the same name whose answers are short."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(MODEL, f"{folder}/{pathlib.Path(MODEL).name}")
        path = pathlib.Path(copy, "generation_config.json")
        path.write_text(json.dumps(
            json.loads(path.read_text()) | {"max_length": 5}))
        yield copy


@contextlib.contextmanager
def replica_set(binary, flags=()):
    replicas = []
    try:
        for _ in range(3):
            replicas.append(Replica(binary, flags))
        yield replicas
    finally:
        for replica in replicas:
            replica.stop()


@contextlib.contextmanager
def proxied(name, program, replicas, by_relay=False, affinity=False):
    """The target of a client that reaches the replicas by this proxy, or by
    its own balancing ("client"); each replica through its relay or directly.
    """
    ports = [replica.relay.port if by_relay else replica.port
             for replica in replicas]
    if name == "client":
        yield [f"127.0.0.1:{port}" for port in ports]
        return
    file, arguments = PROXIES[name]
    text = (ROOT / "deploy/proxies" / file).read_text()
    if affinity:
        old, new = BY_AFFINITY[name]
        if text.count(old) != 1:
            raise SystemExit(f"{file} has not one '{old}'")
        text = text.replace(old, new)
    front = free_port()
    numbers = {"50050": front}
    for i, replica in enumerate(replicas):
        numbers[str(50051 + i)] = ports[i]
        numbers[str(8081 + i)] = replica.http_port
    text = re.sub(r"\b(5005\d|808\d)\b", lambda m: str(numbers[m[0]]), text)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / file
        path.write_text(text.replace("http {", f"pid {folder}/pid;\n"
                                     "error_log stderr crit;\nhttp {"))
        with subprocess.Popen([program, *arguments, str(path)],
                              env={**os.environ, "TMPDIR": folder},
                              stderr=subprocess.DEVNULL) as process:
            try:
                wait_for(name, lambda: accepts(front))
                time.sleep(3)  # its health checks have seen all replicas
                yield [f"127.0.0.1:{front}"]
            finally:
                process.terminate()
