"""A small asyncio client of attend.v1 for the measuring scripts here.

The stubs are generated at import from proto/attend/v1/attend.proto into a
temporary directory. Needs grpcio and grpcio-tools.
"""

import asyncio
import importlib
import pathlib
import sys
import tempfile

import grpc
from grpc_tools import protoc

ROOT = pathlib.Path(__file__).resolve().parents[3]
_OUT = tempfile.TemporaryDirectory(prefix="attend-stubs-")


def _stubs():
    well_known = pathlib.Path(protoc.__file__).parent / "_proto"
    code = protoc.main(
        ["protoc", f"-I{ROOT / 'proto'}", f"-I{well_known}",
         f"--python_out={_OUT.name}", f"--grpc_python_out={_OUT.name}",
         str(ROOT / "proto/attend/v1/attend.proto")])
    if code:
        raise RuntimeError(f"protoc ended with {code}")
    sys.path.insert(0, _OUT.name)
    return (importlib.import_module("attend.v1.attend_pb2"),
            importlib.import_module("attend.v1.attend_pb2_grpc"))


pb, rpc = _stubs()


def params(beams, max_new_tokens):
    """Greedy for one beam; everything that a model's own defaults could set
    otherwise is given."""
    return pb.GenerationParams(
        num_beams=beams, num_return_sequences=1, max_new_tokens=max_new_tokens,
        length_penalty=1.0, early_stopping=pb.EARLY_STOPPING_FALSE,
        do_sample=False)


async def _translate(address, texts, generation, concurrency, timeout):
    results, position = [None] * len(texts), iter(range(len(texts)))
    options = [("grpc.enable_retries", 0)]
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        stub = rpc.AttendStub(channel)
        await asyncio.wait_for(channel.channel_ready(), timeout)

        async def worker():
            for i in position:  # one request, one sentence
                request = pb.GenerateRequest(
                    inputs=[pb.Input(text=texts[i])], params=generation)
                response = await stub.Generate(request, timeout=timeout)
                result = response.results[0]
                if result.status.code:
                    raise RuntimeError(f"line {i + 1}: {result.status.message}")
                results[i] = result.choices[0]

        await asyncio.gather(*(worker() for _ in range(concurrency)))
    return results


def translate(address, texts, generation, concurrency, timeout=120):
    """The best choice of each text, `concurrency` requests in flight."""
    return asyncio.run(
        _translate(address, texts, generation, concurrency, timeout))
