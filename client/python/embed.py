#!/usr/bin/env python3
"""Embeds texts with an Attend server and prints how similar they are to the first.

    pip install -r client/python/requirements.txt
    python -m grpc_tools.protoc -Iproto --python_out=. --grpc_python_out=. \\
        attend/v1/attend.proto
    python client/python/embed.py "A dog runs." "The dog is running." "It rains."
"""

import argparse
import array
import os
import sys

import attend_channel
import grpc

sys.path.insert(0, os.getcwd())  # where protoc wrote the stubs
from attend.v1 import attend_pb2, attend_pb2_grpc  # noqa: E402


def embed(stub, texts, timeout):
    """Returns a vector of length 1 for each text."""
    request = attend_pb2.EmbedRequest(
        inputs=[attend_pb2.Input(text=text) for text in texts],
        normalize=True,
        # With numpy: numpy.frombuffer(result.data, "<f4").
        encoding=attend_pb2.EMBEDDING_FLOAT32)
    vectors = []
    for result in stub.Embed(request, timeout=timeout).results:
        if result.status.code != 0:
            raise ValueError(result.status.message)
        vectors.append(array.array("f", result.data))
    return vectors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", nargs="+")
    attend_channel.add_arguments(parser)
    parser.add_argument("--timeout", type=float, default=60, help="seconds")
    options = parser.parse_args()

    with attend_channel.channel_of(options) as channel:
        stub = attend_pb2_grpc.AttendStub(channel)
        try:
            vectors = embed(stub, options.text, options.timeout)
        except grpc.RpcError as error:
            sys.exit(f"{error.code().name}: {error.details()}")
        except ValueError as error:
            sys.exit(str(error))
    for text, vector in zip(options.text, vectors):
        similarity = sum(a * b for a, b in zip(vectors[0], vector))
        print(f"{similarity:.4f}  {text}")


if __name__ == "__main__":
    main()
