"""A server for tests, with real models."""

import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.request

TIMEOUT = 120


class Server:
    """Serves models, {name: folder}, in f32 on free ports; `flags` follow."""

    def __init__(self, models, *flags):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [os.environ["ATTEND_SERVER"],
             *(f"--model={name}={folder}" for name, folder in models.items()),
             "--host=127.0.0.1", "--port=0", "--http-host=127.0.0.1",
             "--http-port=0", "--dtype=f32", "--kv-cache-bytes=64MiB", *flags],
            stderr=self.log)
        self.port, self.http_port = self.wait_until_ready()
        self.address = f"127.0.0.1:{self.port}"

    def wait_until_ready(self):
        limit = time.monotonic() + TIMEOUT
        while time.monotonic() < limit:
            self.log.seek(0)
            log = self.log.read()
            ready = re.search(
                r"event=ready .*grpc_port=(\d+) http_port=(\d+)", log)
            if ready:
                return int(ready[1]), int(ready[2])
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended:\n{log}")
            time.sleep(0.05)
        self.process.kill()
        raise RuntimeError(f"the server is not ready:\n{log}")

    def metrics(self):
        url = f"http://127.0.0.1:{self.http_port}/metrics"
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            return answer.read().decode()

    def drain(self):
        self.process.send_signal(signal.SIGTERM)

    def close(self):
        """Ends the server, which must end well."""
        self.drain()
        try:
            code = self.process.wait(TIMEOUT)
        finally:
            self.process.kill()
            self.log.close()
        if code != 0:
            raise RuntimeError(f"the server's exit code is {code}")
