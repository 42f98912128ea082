#!/usr/bin/env python3
"""How a long prompt disturbs streams that are running.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/long_prompt.py

One server with SmolLM2-135M (checkpoints/smollm2.py makes the checkpoint; its
positions are raised to what the prompt needs, its weights are as they were). Some
streams generate; after a quiet while a prompt of --prompt random ids comes in, and
asks for one token. The table shows the time between two tokens of a stream, median
and 99th percentile, in the quiet while and until the prompt has its token, and
how long that took. The exit code is 1 if a 99th percentile is more than
--limit times the quiet one.
"""

import argparse
import asyncio
import json
import pathlib
import random
import sys
import tempfile
import time

import grpc

from checkpoints import smollm2
from harness import attend_client, attend_processes, machine

pb = attend_client.pb
LOWEST_ID, HIGHEST_ID = 100, 49000  # ordinary tokens
STREAM_PROMPT = 32


def ids(count, seed):
    draw = random.Random(seed)
    return [draw.randrange(LOWEST_ID, HIGHEST_ID) for _ in range(count)]


def request(tokens, new_tokens):
    generation = attend_client.params(1, new_tokens)
    generation.min_new_tokens = new_tokens
    return pb.GenerateRequest(
        inputs=[pb.Input(tokens=pb.Tokens(ids=tokens))], params=generation)


async def stream(stub, seed, new_tokens, arrivals):
    """One request after the other, so that a stream's own keys stay few;
    appends (when, seconds since the last) for each message with tokens."""
    while True:
        last = None
        async for _ in stub.GenerateStream(request(ids(STREAM_PROMPT, seed),
                                                   new_tokens)):
            now = time.perf_counter()
            if last is not None:
                arrivals.append((now, now - last))
            last = now


async def disturb(address, streams, args):
    """(quiet, disturbed) times between tokens, seconds of the prompt."""
    arrivals = []
    async with grpc.aio.insecure_channel(address) as channel:
        stub = attend_client.rpc.AttendStub(channel)
        running = [asyncio.create_task(
            stream(stub, i, args.stream_tokens, arrivals))
            for i in range(streams)]
        while len(arrivals) < 8 * streams:  # all have begun
            await asyncio.sleep(0.01)
        begin = time.perf_counter()
        await asyncio.sleep(args.quiet_seconds)
        start = time.perf_counter()
        answer = await stub.Generate(request(ids(args.prompt, "prompt"), 1))
        end = time.perf_counter()
        if answer.results[0].status.code:
            raise RuntimeError(answer.results[0].status.message)
        for task in running:
            if task.done():
                task.result()  # raises: a stream never ends
            task.cancel()
    return ([gap for when, gap in arrivals if begin <= when < start],
            [gap for when, gap in arrivals if start <= when < end],
            end - start)


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def positions(checkpoint, needed, out):
    """The same checkpoint with at least so many positions."""
    for file in checkpoint.iterdir():
        if file.name != "config.json":
            (out / file.name).symlink_to(file.resolve())
    config = json.loads((checkpoint / "config.json").read_text())
    config["max_position_embeddings"] = max(
        needed, config["max_position_embeddings"])
    (out / "config.json").write_text(json.dumps(config))
    return out


def measure(args, model):
    print("streams  quiet ms p50    p99  with prompt p50    p99  times  prompt s")
    server = attend_processes.Server(args.build, model, [
        "--kv-cache-bytes=3GiB", "--prefix-cache=false",
        *attend_processes.dtype_flags(args.dtype), *args.flag])
    good = True
    try:
        for streams in args.streams:
            quiet, loud, seconds = asyncio.run(
                disturb(server.address, streams, args))
            times = percentile(loud, .99) / percentile(quiet, .99)
            good &= times <= args.limit
            figures = [1e3 * percentile(gaps, part)
                       for gaps in (quiet, loud) for part in (.5, .99)]
            print(f"{streams:>7} {figures[0]:>13.1f} {figures[1]:>6.1f} "
                  f"{figures[2]:>16.1f} {figures[3]:>6.1f} {times:>5.2f}x "
                  f"{seconds:>9.1f}", flush=True)
    finally:
        server.close()
    return good


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--checkpoint", type=pathlib.Path,
                        help="made by quality_perplexity.py before")
    parser.add_argument("--dtype", default="int8")
    parser.add_argument("--prompt", type=int, default=16384)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--stream-tokens", type=int, default=512)
    parser.add_argument("--quiet-seconds", type=float, default=5)
    parser.add_argument("--limit", type=float, default=3)
    return parser.parse_args()


def main():
    args = options()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        checkpoint = args.checkpoint or scratch / "checkpoint"
        if not (checkpoint / "model.safetensors").exists():
            checkpoint.mkdir(parents=True, exist_ok=True)
            smollm2.write_checkpoint(checkpoint)
        model = scratch / "model"
        model.mkdir()
        positions(checkpoint, args.prompt + args.stream_tokens, model)
        print(machine.describe(machine.cpu(), False))
        good = measure(args, model)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
