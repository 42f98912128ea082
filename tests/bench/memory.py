#!/usr/bin/env python3
"""Memory of a whole server process: a row for each model and dtype.

    tests/bench/memory.py --model models/en-de:generate \\
        --model /tmp/all-MiniLM-L6-v2:embed

A model is a directory and what it is asked for, as attend bench --task names
it. Resident memory is printed after the load and after the requests, its peak,
and what is resident after the requests without the KV pool for each number of
the checkpoint. Then what of the memory after the requests is anonymous: not
pages of programs and libraries. MB are 10^6 bytes. quality_vectors.py and
quality_perplexity.py say where those models come from (quality_perplexity.py
--checkpoint keeps the directory).
"""

import argparse
import json
import pathlib
import re
import struct
import subprocess

from harness import attend_processes

DTYPES = ["f32", "bf16", "int8"]
KV_BYTES = 64 << 20


def parameters(model):
    """How many numbers its safetensors have."""
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
    server = Server(args.server, model, dtype, args.flag)
    try:
        pid = server.process.pid
        loaded = status(pid, "VmRSS")
        load_peak = status(pid, "VmHWM")
        attend_processes.bench(args.client, server.address, "--task", task,
                               "--requests", args.requests,
                               *(["--max-new-tokens", "32"]
                                 if task == "generate" else []))
        after = status(pid, "VmRSS")
        anonymous = status(pid, "RssAnon")
        count = parameters(model)
        pool = KV_BYTES / 1e6 if task == "generate" else 0
        print(f"{model.name:<20} {count / 1e6:>7.1f} {dtype:<5} "
              f"{server.load_seconds:>7.2f} {loaded:>8.0f} {after:>8.0f} "
              f"{max(load_peak, status(pid, 'VmHWM')):>8.0f} "
              f"{(after - pool) * 1e6 / count:>8.2f} {anonymous:>9.0f}",
              flush=True)
    finally:
        server.close()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--model", action="append", required=True,
                        help="directory:task")
    parser.add_argument("--requests", type=int, default=50)
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=DTYPES)
    parser.add_argument("--server", type=pathlib.Path,
                        help="default: that of --build")
    parser.add_argument("--client", type=pathlib.Path,
                        help="default: that of --build")
    args = parser.parse_args()
    args.server = args.server or args.build / "server/attend-server"
    args.client = args.client or args.build / "client/attend"
    print(f"{'model':<20} {'10^6':>7} dtype {'load s':>7} {'loaded':>8} "
          f"{'after':>8} {'peak':>8} {'B/number':>8} {'anonymous':>9}")
    for text in args.model:
        directory, _, task = text.rpartition(":")
        for dtype in args.dtypes:
            measure(args, pathlib.Path(directory).resolve(), task, dtype)


if __name__ == "__main__":
    main()
