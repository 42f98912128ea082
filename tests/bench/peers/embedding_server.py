#!/usr/bin/env python3
"""The server that embeddings_served.py compares with: Python, grpc.aio and ONNX
Runtime or OpenVINO.

    python -m peers.embedding_server --runtime onnxruntime --precision int8 \\
        --model MODEL.onnx --port 50061 --workers 2 --threads 1

Speaks Embed of token ids and GetModel of attend.v1. What waits is taken
together as batcher.py says, and padded to its longest.
"""

import argparse
import asyncio
import queue

import grpc

from harness.attend_client import pb, rpc
from peers import batcher, encoders


class Model:
    """A session for each worker."""

    def __init__(self, args):
        make = encoders.RUNTIMES[args.runtime]
        self.idle = queue.SimpleQueue()
        for _ in range(args.workers):
            self.idle.put(make(args.model, args.precision, 1, args.threads))

    def embed(self, batch):
        """Runs on a thread of the pool; sessions release the GIL."""
        job = {"sources": [waiting.source for waiting in batch],
               "batch": len(batch)}
        session = self.idle.get()
        try:
            return session.run(list(encoders.batches(job)))[0]
        finally:
            self.idle.put(session)


class Servicer(rpc.AttendServicer):
    def __init__(self, calls):
        self.calls = calls

    async def GetModel(self, request, context):
        return pb.Model(name="encoder")

    async def Embed(self, request, context):
        sources = [list(one.tokens.ids) for one in request.inputs]
        vectors = await asyncio.gather(*(
            self.calls.submit(batcher.Waiting(source)) for source in sources))
        return pb.EmbedResponse(results=[
            pb.EmbedResult(values=vector, width=len(vector),
                           usage=pb.Usage(source_tokens=len(source)))
            for source, vector in zip(sources, vectors)])


async def serve(args):
    calls = batcher.Batcher(Model(args).embed, args.workers, args.max_batch,
                            args.window)
    server = grpc.aio.server()
    rpc.add_AttendServicer_to_server(Servicer(calls), server)
    server.add_insecure_port(f"127.0.0.1:{args.port}")
    await server.start()
    await calls.run()


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", choices=encoders.RUNTIMES,
                        required=True)
    parser.add_argument("--precision", required=True)
    parser.add_argument("--model", required=True, help="ONNX file")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--max-batch", type=int, default=8)
    parser.add_argument("--window", type=float, default=0.005, help="seconds")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(serve(options()))
