"""The models of these tests, and what attend.v1 answers."""

import os
import pathlib

import grpc
from attend.v1 import attend_pb2 as pb
from attend.v1 import attend_pb2_grpc
from served import TIMEOUT, Server

ROOT = pathlib.Path(__file__).resolve().parents[3]
TRANSLATOR, CHAT, ENCODER = "en-de", "smollm2", "minilm"
TEXTS = ["Two dogs play in the snow.", "How are you?",
         "A man is looking for the keys of his car in the garden."]
BUNDLED = ROOT / "models/en-de"
FETCHED = pathlib.Path(os.environ["ATTEND_MODELS"])  # by models/fetch.py


def start(*flags):
    return Server({TRANSLATOR: BUNDLED,
                   CHAT: FETCHED / "smollm2-135m.gguf",
                   ENCODER: FETCHED / "all-minilm-l6-v2"}, *flags)


class Attend:
    """Calls of attend.v1, which the other protocol's answers have to equal."""

    def __init__(self, address):
        self.channel = grpc.insecure_channel(address)
        self.stub = attend_pb2_grpc.AttendStub(self.channel)

    def close(self):
        self.channel.close()

    def generate(self, texts, model=TRANSLATOR, params=None, **fields):
        request = pb.GenerateRequest(
            model=model, inputs=[pb.Input(text=text) for text in texts],
            params=params or pb.GenerationParams(), **fields)
        return self.stub.Generate(request, timeout=TIMEOUT).results

    def embed(self, texts, model=ENCODER, **fields):
        request = pb.EmbedRequest(
            model=model, inputs=[pb.Input(text=text) for text in texts],
            **fields)
        return [list(result.values) for result in
                self.stub.Embed(request, timeout=TIMEOUT).results]
