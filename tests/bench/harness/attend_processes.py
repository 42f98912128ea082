"""Attend's programs as child processes of the measuring scripts."""

import ctypes
import json
import pathlib
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = ROOT / "build/release"


def add_options(parser):
    parser.add_argument("--build", default=BUILD, type=pathlib.Path,
                        help="directory that Attend was built in")
    parser.add_argument("--flag", action="append", default=[],
                        help="further flag of attend-server and "
                        "attend-engine-bench, like --flag=--threads=1; may be "
                        "repeated")


def dtype_flags(dtype):
    return [f"--dtype={dtype}"]


class Engine:
    """attend-engine-bench: the engine alone."""

    def __init__(self, build, model, flags):
        self.name = "attend"
        self.process = subprocess.Popen(
            [build / "tests/bench/attend-engine-bench", "--model", str(model),
             *flags], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, job):
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or
                            '{"error": "attend-engine-bench ended"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def reset_peak(self):
        """Forgets the peak so far, of loading for instance (see proc(5))."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def peak_rss(self):
        """The most resident memory since the start, or the last reset."""
        for line in pathlib.Path(
                f"/proc/{self.process.pid}/status").read_text().split("\n"):
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("the kernel does not tell VmHWM")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Server:
    """attend-server on free ports, ready when the constructor returns."""

    def __init__(self, build, model, flags):
        self.cli = build / "client/attend"
        port, self.http_port = free_port(), free_port()
        self.address = f"127.0.0.1:{port}"
        self.process = subprocess.Popen(
            [build / "server/attend-server", "--model", str(model),
             f"--port={port}", f"--http-port={self.http_port}",
             "--log-level=warning", *flags])
        try:
            self._wait()
        except BaseException:
            self.close()
            raise

    def _wait(self):
        deadline = time.monotonic() + 120
        while subprocess.run([self.cli, "models", "--address", self.address],
                             capture_output=True).returncode:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("attend-server did not start")
            time.sleep(0.2)

    def bench(self, *arguments):
        return bench(self.cli, self.address, *arguments)

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid)

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def bench(cli, address, *arguments):
    """The report of `attend bench`."""
    done = subprocess.run(
        [cli, "bench", "--address", address, "--json",
         *(str(argument) for argument in arguments)],
        capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"attend bench: {done.stderr}")
    return json.loads(done.stdout)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_seconds(pid):
    """User and system time of a process and its threads so far, not in ticks."""
    clock = ctypes.c_int()
    error = ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock))
    if error:
        raise OSError(error, f"clock_getcpuclockid({pid})")
    return time.clock_gettime(clock.value)
