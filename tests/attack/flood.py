#!/usr/bin/env python3
"""A flood of long requests from one address, and one short request now and
then from another.

    attend-server --port 50051 &
    tests/attack/flood.py --address 127.0.0.1:50051

Beside the flood a short request should take at most about three times as long
as alone, and one step. With --fair-share=none it waits for its turn in a queue
that is full. The flood comes from 127.0.0.1, the short requests go through a
forwarder that binds 127.0.0.2. Needs grpcio and grpcio-tools.
"""

import argparse
import asyncio
import multiprocessing
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent /
                       "bench" / "harness"))

LONG = ("The committee, which had met in the old library on the first day of "
        "the year, decided after many hours that the bridge over the river "
        "should be built again by the people of both towns, and that nobody "
        "who had lost a house in the flood should have to pay for it.")
SHORT = "The cat sleeps."


def flood(address, clients, inputs, seconds, tokens):
    """Calls without a pause; counts the generated tokens of those that ended."""
    import grpc  # not before the fork
    from attend_client import params, pb, rpc

    async def client(stub, end):
        request = pb.GenerateRequest(
            inputs=[pb.Input(text=LONG)] * inputs, params=params(4, 128))
        while time.monotonic() < end:
            try:
                response = await stub.Generate(request, timeout=120)
            except grpc.aio.AioRpcError as error:
                if error.code() != grpc.StatusCode.RESOURCE_EXHAUSTED:
                    raise
                await asyncio.sleep(0.05)
                continue
            with tokens.get_lock():
                tokens.value += sum(result.usage.generated_tokens
                                    for result in response.results)

    async def run():
        end = time.monotonic() + seconds
        async with grpc.aio.insecure_channel(address) as channel:
            stub = rpc.AttendStub(channel)
            await asyncio.gather(*(client(stub, end) for _ in range(clients)))

    asyncio.run(run())


async def forwarder(address, source):
    """A port whose connections go on to `address` from `source`."""
    host, port = address.rsplit(":", 1)

    async def pump(reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def connect(reader, writer):
        out = await asyncio.open_connection(host, int(port),
                                            local_addr=(source, 0))
        try:
            await asyncio.gather(pump(reader, out[1]), pump(out[0], writer))
        except (OSError, asyncio.CancelledError):
            out[1].close()

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    return "127.0.0.1:%d" % server.sockets[0].getsockname()[1]


async def lone(address, source, seconds, pause):
    """The seconds that short requests take, one after the other."""
    import grpc
    from attend_client import params, pb, rpc

    request = pb.GenerateRequest(inputs=[pb.Input(text=SHORT)],
                                 params=params(1, 32))
    took = []
    through = await forwarder(address, source)
    async with grpc.aio.insecure_channel(through) as channel:
        stub = rpc.AttendStub(channel)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            begin = time.monotonic()
            try:
                response = await stub.Generate(request, timeout=60)
                ok = response.results[0].status.code == 0
            except grpc.aio.AioRpcError:
                ok = False
            took.append(time.monotonic() - begin if ok else float("inf"))
            await asyncio.sleep(pause)
    return sorted(took)


def row(name, took, tokens_per_second):
    at = lambda part: took[min(len(took) - 1, int(part * len(took)))] * 1000
    print(f"| {name} | {len(took)} | {at(0.5):.1f} | {at(0.99):.1f} "
          f"| {tokens_per_second:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", default="127.0.0.1:50051")
    parser.add_argument("--source", default="127.0.0.2",
                        help="address of the short requests")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--inputs", type=int, default=32,
                        help="of each call of the flood")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--pause", type=float, default=0.5,
                        help="seconds after each short request")
    options = parser.parse_args()

    def short(seconds):
        return asyncio.run(
            lone(options.address, options.source, seconds, options.pause))

    print("| short requests | number | p50, ms | p99, ms | flood, tokens/s |")
    print("|---|---|---|---|---|")
    multiprocessing.set_start_method("spawn")
    row("alone", short(options.seconds / 2), 0)
    tokens = multiprocessing.Value("q", 0)
    process = multiprocessing.Process(
        target=flood, args=(options.address, options.clients, options.inputs,
                            options.seconds + 6, tokens))
    process.start()
    time.sleep(4)  # until the queue is full
    begin, before = time.monotonic(), tokens.value
    took = short(options.seconds)
    rate = (tokens.value - before) / (time.monotonic() - begin)
    row("beside the flood", took, rate)
    process.terminate()


if __name__ == "__main__":
    main()
