#!/usr/bin/env python3
"""The Open Inference Protocol against attend.v1: latencies of the same requests.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install grpcio==1.85.1 grpcio-tools==1.85.1
    /tmp/bench/bin/python tests/bench/inference_protocol.py

One server; calls of both protocols take turns, so that whatever else the
machine does meets both. Requests are written before, and answers are not read,
so that what is measured is the server. For each way: milliseconds of attend.v1,
p50 and p99, and the ratio of the other protocol's.
"""

import argparse
import asyncio
import json
import pathlib
import statistics
import time

import grpc

from harness import attend_processes, machine
from harness.attend_client import pb
from harness.infer_request import infer_request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXTS = ["Two dogs play in the snow.", "How are you?",
         "A man is looking for the keys of his car in the garden.",
         "It rains."]
ATTEND = "/attend.v1.Attend/"
INFERENCE = "/inference.GRPCInferenceService/"
# Of an answer: the parameter triton_final_response, true.
FINAL = b"triton_final_response\x12\x02\x08\x01"


class Unary:
    def __init__(self, channel, method, request):
        self.call, self.request = channel.unary_unary(method), request

    async def measure(self):
        begin = time.perf_counter()
        await self.call(self.request, timeout=60)
        return [time.perf_counter() - begin]


class Stream:
    """First answer and last answer of GenerateStream."""

    def __init__(self, channel, method, request):
        self.call, self.request = channel.unary_stream(method), request

    async def measure(self):
        begin = time.perf_counter()
        call = self.call(self.request, timeout=60)
        times = []
        while await call.read() is not grpc.aio.EOF:
            times.append(time.perf_counter() - begin)
        return [times[0], times[-1]]


class RequestStream:
    """The same of ModelStreamInfer: one stream has all requests, as the clients
    of that protocol do."""

    def __init__(self, channel, method, request):
        self.call, self.request = channel.stream_stream(method)(), request

    async def measure(self):
        begin = time.perf_counter()
        await self.call.write(self.request)
        times = []
        while True:
            answer = await self.call.read()
            times.append(time.perf_counter() - begin)
            if FINAL in answer:
                return [times[0], times[-1]]


def ways(channel, batch):
    texts = (TEXTS * batch)[:batch]
    inputs = [pb.Input(text=text) for text in texts]
    generate = pb.GenerateRequest(inputs=inputs).SerializeToString()
    embed = pb.EmbedRequest(
        inputs=inputs, encoding=pb.EMBEDDING_FLOAT32).SerializeToString()
    return {
        "generate": (
            Unary(channel, ATTEND + "Generate", generate),
            Unary(channel, INFERENCE + "ModelInfer", infer_request(texts))),
        "embed": (
            Unary(channel, ATTEND + "Embed", embed),
            Unary(channel, INFERENCE + "ModelInfer",
                  infer_request(texts, "embed"))),
        "stream, first and last": (
            Stream(channel, ATTEND + "GenerateStream", generate),
            RequestStream(channel, INFERENCE + "ModelStreamInfer",
                          infer_request(texts))),
    }


def percentile(values, part):
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


async def compare(name, batch, pair, rounds):
    times = ([], [])
    for round_ in range(rounds + 20):
        for side in (0, 1) if round_ % 2 else (1, 0):
            measured = await pair[side].measure()
            if round_ >= 20:  # the first warm up
                times[side].append(measured)
    rows = []
    for i, what in enumerate(("first", "last") if "stream" in name else ("",)):
        mine, other = ([one[i] for one in side] for side in times)
        rows.append({
            "way": f"{name.split(',')[0]} {what}".strip(), "batch": batch,
            "p50_ms": 1e3 * statistics.median(mine),
            "p99_ms": 1e3 * percentile(mine, 0.99),
            "ratio_p50": statistics.median(other) / statistics.median(mine),
            "ratio_p99": percentile(other, 0.99) / percentile(mine, 0.99)})
    return rows


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--model", default=ROOT / "models/en-de")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--batches", default="1,16")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


async def measure(args, address):
    rows = []
    async with grpc.aio.insecure_channel(address) as channel:
        for batch in map(int, args.batches.split(",")):
            for name, pair in ways(channel, batch).items():
                rows += await compare(name, batch, pair, args.rounds)
    return rows


def main():
    args = options()
    server = attend_processes.Server(args.build, args.model, args.flag)
    try:
        rows = asyncio.run(measure(args, server.address))
    finally:
        server.close()
    info = machine.cpu()
    if args.json:
        print(json.dumps({"cpu": info, "rows": rows}, indent=1))
        return
    print(machine.describe(info, no_amx=False))
    print(f"{'way':<14} {'batch':>5} {'p50 ms':>8} {'p99 ms':>8} "
          f"{'ratio p50':>9} {'ratio p99':>9}")
    for row in rows:
        print(f"{row['way']:<14} {row['batch']:>5} {row['p50_ms']:>8.3f} "
              f"{row['p99_ms']:>8.3f} {row['ratio_p50']:>9.3f} "
              f"{row['ratio_p99']:>9.3f}")


if __name__ == "__main__":
    main()
