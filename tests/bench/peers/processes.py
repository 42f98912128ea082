"""The other programs as child processes of the measuring scripts."""

import os
import pathlib
import subprocess
import sys
import time

from harness import attend_processes

BENCH = pathlib.Path(__file__).resolve().parents[1]


def start(module, arguments, environment=None, python=sys.executable,
          **options):
    """Runs peers.MODULE; `options` are those of Popen."""
    return subprocess.Popen(
        [python, "-m", f"peers.{module}", *map(str, arguments)],
        env=os.environ | (environment or {}) | {"PYTHONPATH": str(BENCH)},
        **options)


class Server:
    """One of the Python servers, which answers when this returns."""

    def __init__(self, cli, name, module, flags, environment=None):
        self.cli, self.name = cli, name
        port = attend_processes.free_port()
        self.address = f"127.0.0.1:{port}"
        self.process = start(module, [f"--port={port}", *flags], environment)
        while subprocess.run([cli, "models", "any", "--address", self.address],
                             capture_output=True).returncode:
            if self.process.poll() is not None:
                raise RuntimeError(f"peers/{module}.py did not start")
            time.sleep(0.2)

    def bench(self, *arguments):
        return attend_processes.bench(self.cli, self.address, *arguments)

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=60)
