#!/usr/bin/env python3
"""Translates lines with an Attend server and prints the text while it comes.

    pip install -r client/python/requirements.txt
    python -m grpc_tools.protoc -Iproto --python_out=. --grpc_python_out=. \\
        attend/v1/attend.proto
    python client/python/translate.py "How are you?"
"""

import argparse
import os
import sys

import attend_channel
import grpc

sys.path.insert(0, os.getcwd())  # where protoc wrote the stubs
from attend.v1 import attend_pb2, attend_pb2_grpc  # noqa: E402


def stream(stub, text, params, timeout):
    """Yields the translation of one text in parts."""
    request = attend_pb2.GenerateRequest(
        inputs=[attend_pb2.Input(text=text)], params=params)
    for chunk in stub.GenerateStream(request, timeout=timeout):
        if chunk.HasField("status") and chunk.status.code != 0:
            raise ValueError(chunk.status.message)
        yield chunk.text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", nargs="*", help="default: standard input")
    attend_channel.add_arguments(parser)
    parser.add_argument("--beams", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60, help="seconds")
    options = parser.parse_args()
    params = attend_pb2.GenerationParams(num_beams=options.beams)

    with attend_channel.channel_of(options) as channel:
        stub = attend_pb2_grpc.AttendStub(channel)
        for text in options.text or (line.rstrip("\n") for line in sys.stdin):
            try:
                for part in stream(stub, text, params, options.timeout):
                    print(part, end="", flush=True)
            except grpc.RpcError as error:
                sys.exit(f"\n{error.code().name}: {error.details()}")
            except ValueError as error:
                print(f"{text!r}: {error}", file=sys.stderr)
            print()


if __name__ == "__main__":
    main()
