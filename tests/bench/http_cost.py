#!/usr/bin/env python3
"""The time to the first token over HTTP against gRPC, and many streams at once.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install grpcio==1.85.1 grpcio-tools==1.85.1
    /tmp/bench/bin/python tests/bench/http_cost.py --model FOLDER

One server; the same prompt as text, one call at a time, alternating between
GenerateStream and the server-sent events of /v1/completions: the median of the
time from sending a request on an open connection to its first token, and the
ratio. Then --streams streams at once over HTTP, all of which must end well.
"""

import argparse
import asyncio
import http.client
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROMPT = "The capital of France is"


def stubs(folder):
    subprocess.run(
        [sys.executable, "-m", "grpc_tools.protoc", f"-I{ROOT / 'proto'}",
         f"--python_out={folder}", f"--grpc_python_out={folder}",
         "attend/v1/attend.proto"], check=True)
    sys.path.insert(0, folder)


class Server:
    def __init__(self, program, model, flags):
        self.process = subprocess.Popen(
            [program, f"--model={model}", "--host=127.0.0.1", "--port=0",
             "--http-host=127.0.0.1", "--http-port=0", *flags],
            stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if "event=ready" in line:
                ports = dict(re.findall(r"(grpc|http)_port=(\d+)", line))
                self.grpc, self.http = int(ports["grpc"]), int(ports["http"])
                break
        # Its log must not fill the pipe.
        os.set_blocking(self.process.stderr.fileno(), False)

    def drain_log(self):
        try:
            while self.process.stderr.read(1 << 16):
                pass
        except (TypeError, OSError):
            pass

    def close(self):
        self.process.terminate()
        self.drain_log()
        self.process.wait(60)


def grpc_first_token(stub, pb, salt):
    request = pb.GenerateRequest(
        inputs=[pb.Input(text=f"{salt} {PROMPT}")],
        params=pb.GenerationParams(max_new_tokens=4, num_beams=1))
    begin = time.perf_counter()
    first = None
    for _ in stub.GenerateStream(request):
        first = first or time.perf_counter()
    return first - begin


def http_first_token(connection, salt):
    body = json.dumps({"prompt": f"{salt} {PROMPT}", "max_tokens": 4,
                       "temperature": 0, "stream": True})
    begin = time.perf_counter()
    connection.request("POST", "/v1/completions", body,
                       {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.readline()
    first = time.perf_counter()
    answer.read()
    return first - begin


async def one_stream(port, tokens):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"prompt": PROMPT, "max_tokens": tokens,
                       "temperature": 0, "stream": True}).encode()
    writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: a\r\n"
                 b"Connection: close\r\nContent-Type: application/json\r\n"
                 b"Content-Length: %d\r\n\r\n" % len(body) + body)
    answer = await reader.read(-1)
    writer.close()
    return answer.startswith(b"HTTP/1.1 200") and b"[DONE]" in answer


async def many_streams(server, count, tokens):
    begin = time.perf_counter()
    streams = asyncio.gather(
        *(one_stream(server.http, tokens) for _ in range(count)))
    probes = []
    while not streams.done():
        started = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", server.http)
        writer.write(b"GET /livez HTTP/1.1\r\nHost: a\r\n"
                     b"Connection: close\r\n\r\n")
        await reader.read(-1)
        writer.close()
        probes.append(time.perf_counter() - started)
        server.drain_log()
        await asyncio.sleep(0.05)
    return sum(await streams), time.perf_counter() - begin, probes


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server",
                        default=ROOT / "build/release/server/attend-server")
    parser.add_argument("--model", required=True)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--tokens", type=int, default=16)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stubs(folder)
        import grpc
        from attend.v1 import attend_pb2 as pb
        from attend.v1 import attend_pb2_grpc
        server = Server(args.server, args.model,
                        [f"--max-running={args.streams}",
                         f"--max-queued-requests={args.streams}",
                         f"--max-tokenizer-queue={args.streams}"])
        stub = attend_pb2_grpc.AttendStub(
            grpc.insecure_channel(f"127.0.0.1:{server.grpc}"))
        connection = http.client.HTTPConnection("127.0.0.1", server.http)
        times = {"grpc": [], "http": []}
        for i in range(args.rounds):
            # Prompts of their own: none is in the prefix cache.
            times["grpc"].append(grpc_first_token(stub, pb, 2 * i))
            times["http"].append(http_first_token(connection, 2 * i + 1))
            server.drain_log()
        for name, values in times.items():
            print(f"{name}: p50 {1e3 * statistics.median(values):.2f} ms, "
                  f"p90 {1e3 * sorted(values)[len(values) * 9 // 10]:.2f} ms")
        ratio = (statistics.median(times["http"])
                 / statistics.median(times["grpc"]))
        print(f"http / grpc: {ratio:.3f}")
        well, seconds, probes = asyncio.run(
            many_streams(server, args.streams, args.tokens))
        print(f"{well} of {args.streams} streams well in {seconds:.1f} s; "
              f"probes p50 {1e3 * statistics.median(probes):.1f} ms, "
              f"worst {1e3 * max(probes):.1f} ms")
        server.close()
        return 0 if well == args.streams else 1


if __name__ == "__main__":
    sys.exit(main())
