#!/usr/bin/env python3
"""Memory of a whole server process: a row for each model and dtype.

    tests/bench/memory.py --model models/en-de:generate \\
        --model /tmp/all-MiniLM-L6-v2:embed

A model is a directory, also one of CTranslate2, or a GGUF file, and what it is
asked for, as attend bench --task names it. Printed are seconds of the load, and
CPU time until the server is ready; resident memory after the load and after the
requests, its peak, and that divided by what stays after the requests; what is
resident then without the KV pool for each number of the checkpoint, if it is of
safetensors; and what is anonymous then: not pages of programs and libraries. MB
are 10^6 bytes. quality_vectors.py and quality_perplexity.py say where those
models come from (quality_perplexity.py --checkpoint keeps the directory).

The exit code is 1 if a peak is above 1.2 times what stays.
"""

import argparse
import json
import pathlib
import re
import struct
import subprocess
import sys

from harness import attend_processes

DTYPES = ["f32", "bf16", "int8", "w8", "int4"]
KV_BYTES = 64 << 20
LARGEST_PEAK = 1.2  # times what stays


def parameters(model):
    """How many numbers its safetensors have; 0 without any."""
    total = 0
    for path in model.rglob("*.safetensors"):
        with path.open("rb") as file:
            length, = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
        for name, tensor in header.items():
            if name != "__metadata__":
                count = 1
                for dim in tensor["shape"]:
                    count *= dim
                total += count
    return total


def status(pid, key):
    """A size of proc(5)'s status, in MB."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{key}:\s+(\d+) kB$", text, re.M)[1]) * 1024 / 1e6


class Server:
    """attend-server with a log to read."""

    def __init__(self, program, model, dtype, flags):
        self.address = f"127.0.0.1:{attend_processes.free_port()}"
        self.process = subprocess.Popen(
            [program, "--model", str(model), f"--dtype={dtype}",
             f"--port={self.address.split(':')[1]}", "--http-port=0",
             f"--kv-cache-bytes={KV_BYTES}", *flags],
            text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        self.load_seconds = None
        for line in self.process.stderr:
            if match := re.search(r"event=loaded .* seconds=([\d.]+)", line):
                self.load_seconds = float(match[1])
            if "event=ready" in line:
                return
        raise RuntimeError(f"{program} did not start")

    def close(self):
        self.process.terminate()
        self.process.communicate(timeout=60)


def measure(args, model, task, dtype):
    """Prints a row; whether the peak is within its limit."""
    server = Server(args.server, model, dtype, args.flag)
    try:
        pid = server.process.pid
        cpu_seconds = attend_processes.cpu_seconds(pid)
        loaded = status(pid, "VmRSS")
        attend_processes.bench(args.client, server.address, "--task", task,
                               "--requests", args.requests,
                               *(["--max-new-tokens", "32"]
                                 if task == "generate" else []))
        after, peak = status(pid, "VmRSS"), status(pid, "VmHWM")
        anonymous = status(pid, "RssAnon")
    finally:
        server.close()
    count = parameters(model)
    pool = KV_BYTES / 1e6 if task == "generate" else 0
    each = f"{(after - pool) * 1e6 / count:.2f}" if count else ""
    print(f"{model.name:<20.20} {count / 1e6:>7.1f} {dtype:<5} "
          f"{server.load_seconds:>7.2f} {cpu_seconds:>6.2f} {loaded:>8.0f} "
          f"{after:>8.0f} {peak:>8.0f} {peak / after:>5.2f} {each:>8} "
          f"{anonymous:>9.0f}", flush=True)
    return peak <= LARGEST_PEAK * after


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--model", action="append", required=True,
                        help="path:task")
    parser.add_argument("--requests", type=int, default=50)
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=DTYPES)
    parser.add_argument("--server", type=pathlib.Path,
                        help="default: that of --build")
    parser.add_argument("--client", type=pathlib.Path,
                        help="default: that of --build")
    args = parser.parse_args()
    args.server = args.server or args.build / "server/attend-server"
    args.client = args.client or args.build / "client/attend"
    print(f"{'model':<20} {'10^6':>7} dtype {'load s':>7} {'CPU s':>6} "
          f"{'loaded':>8} {'after':>8} {'peak':>8} {'times':>5} {'B/number':>8} "
          f"{'anonymous':>9}")
    good = []
    for text in args.model:
        path, _, task = text.rpartition(":")
        good += [measure(args, pathlib.Path(path).resolve(), task, dtype)
                 for dtype in args.dtypes]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
