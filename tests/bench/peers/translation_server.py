#!/usr/bin/env python3
"""The server that translation_served.py compares with: Python, grpc.aio and
CTranslate2.

    python -m peers.translation_server --model CONVERTED --port 50061 \\
        --workers 2 --threads 1

Speaks Generate (unary) and GetModel of attend.v1. Inputs wait in a queue; as
soon as a worker is free, what waits is taken together, at most --max-batch and
after a window of 5 ms from the first, and translated in a thread pool with as
many threads as CTranslate2 has workers. Rows of a batch end on their own: where
requests of one batch want different lengths, CTranslate2 calls back after each
token and drops the rows that have theirs.

Greedy only, and min_new_tokens must be absent, or equal to max_new_tokens.
"""

import argparse
import asyncio
import dataclasses
import json
import pathlib

import ctranslate2
import grpc

from harness.attend_client import pb, rpc
from peers import batcher


@dataclasses.dataclass
class Translation(batcher.Waiting):
    length: int = 0       # new tokens at most
    forced: bool = False  # exactly so many

    def sort(self):
        return self.forced


class Model:
    """CTranslate2 with ids in and out; text where there is a tokenizer."""

    def __init__(self, args):
        directory = pathlib.Path(args.model)
        self.tokens = json.loads(
            (directory / "shared_vocabulary.json").read_text(encoding="utf-8"))
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.tokenizer = None
        if args.tokenizer:
            from transformers import MarianTokenizer
            self.tokenizer = MarianTokenizer.from_pretrained(args.tokenizer)
        self.translator = ctranslate2.Translator(
            args.model, device="cpu", compute_type=args.compute_type,
            inter_threads=args.workers, intra_threads=args.threads)

    def source(self, request_input):
        if request_input.WhichOneof("input") == "tokens":
            return [self.tokens[i] for i in request_input.tokens.ids]
        ids = self.tokenizer(request_input.text)["input_ids"]
        return self.tokenizer.convert_ids_to_tokens(ids)

    def text(self, output):
        return self.tokenizer.decode(
            self.tokenizer.convert_tokens_to_ids(output),
            skip_special_tokens=True) if self.tokenizer else ""

    def translate(self, batch):
        """Runs on a thread of the pool; CTranslate2 releases the GIL."""
        lengths = [waiting.length for waiting in batch]
        longest = max(lengths)
        callback = None
        if min(lengths) != longest:
            def callback(step):
                return step.step + 1 >= lengths[step.batch_id]
        results = self.translator.translate_batch(
            [waiting.source for waiting in batch], beam_size=1,
            max_input_length=0, max_decoding_length=longest,
            min_decoding_length=longest if batch[0].forced else 0,
            suppress_sequences=[["<pad>"]], callback=callback)
        return [self.choice(result.hypotheses[0], waiting)
                for result, waiting in zip(results, batch)]

    def choice(self, output, waiting):
        ids = [self.ids[token] for token in output]
        if len(ids) < waiting.length:
            ids.append(self.ids["</s>"])
        return pb.Choice(text=self.text(output), ids=ids)


class Servicer(rpc.AttendServicer):
    def __init__(self, model, queue):
        self.model, self.queue = model, queue

    async def GetModel(self, request, context):
        return pb.Model(name="ctranslate2")

    async def Generate(self, request, context):
        params = request.params
        if params.num_beams > 1 or params.min_new_tokens not in (
                0, params.max_new_tokens):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT,
                                "greedy, and natural or forced lengths only")
        sources = [self.model.source(one) for one in request.inputs]
        choices = await asyncio.gather(*(
            self.queue.submit(Translation(
                source, length=params.max_new_tokens or 256,
                forced=params.min_new_tokens > 0)) for source in sources))
        return pb.GenerateResponse(results=[
            pb.GenerateResult(choices=[choice], usage=pb.Usage(
                source_tokens=len(source), generated_tokens=len(choice.ids)))
            for source, choice in zip(sources, choices)])


async def serve(args):
    model = Model(args)
    queue = batcher.Batcher(model.translate, args.workers, args.max_batch,
                            args.window)
    server = grpc.aio.server()
    rpc.add_AttendServicer_to_server(Servicer(model, queue), server)
    server.add_insecure_port(f"127.0.0.1:{args.port}")
    await server.start()
    await queue.run()


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="converted directory")
    parser.add_argument("--tokenizer", help="Hugging Face directory, for text")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--compute-type", default="int8")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--max-batch", type=int, default=32)
    parser.add_argument("--window", type=float, default=0.005, help="seconds")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(serve(options()))
