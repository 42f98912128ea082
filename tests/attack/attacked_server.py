"""A server of the attack's own."""

import contextlib
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = str(ROOT / "models/en-de")


class AttackedServer:
    """Runs until stop(). `address` is the gRPC port's, `http` begins the URLs
    of the other port."""

    def __init__(self, binary, model, flags=()):
        self._log = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [binary, f"--model={model}", "--host=127.0.0.1", "--port=0",
             "--http-host=127.0.0.1", "--http-port=0",
             "--kv-cache-bytes=64MiB", *flags], stderr=self._log)
        ports = None
        while ports is None and self._process.poll() is None:
            time.sleep(0.1)
            ports = re.search(r"event=ready .*grpc_port=(\d+) http_port=(\d+)",
                              self.log())
        if ports is None:
            raise SystemExit("the server did not start: " + self.log())
        self.address = f"127.0.0.1:{ports[1]}"
        scheme = "https" if "--http-tls" in flags else "http"
        self.http = f"{scheme}://127.0.0.1:{ports[2]}"
        self.pid = self._process.pid

    def log(self):
        self._log.seek(0)
        return self._log.read()

    def resident_mebibytes(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def get(self, path):
        with urllib.request.urlopen(
                self.http + path, timeout=30,
                context=ssl._create_unverified_context()) as page:
            return page.read().decode()

    def metrics(self):
        """Values by name with labels."""
        lines = self.get("/metrics").splitlines()
        return {name: float(value) for name, value in
                (line.rsplit(" ", 1) for line in lines
                 if not line.startswith("#"))}

    def signal(self, number):
        self._process.send_signal(number)

    def wait(self, seconds):
        """The exit code of a server that was asked to end."""
        return self._process.wait(seconds)

    def stop(self):
        """The exit code after a drain."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        return self._process.wait(60)


def report(checks):
    """Prints each (text, whether it passed) as it comes, and ends the program:
    with exit code 1 if one did not."""
    good = True
    for text, passed in checks:
        print("pass" if passed else "FAIL", text, flush=True)
        good &= passed
    sys.exit(0 if good else 1)


@contextlib.contextmanager
def attacked_server(binary, model=MODEL, flags=()):
    server = AttackedServer(binary, model, flags)
    try:
        yield server
    finally:
        server.stop()
