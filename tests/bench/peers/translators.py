"""CTranslate2 as a peer: conversion, and one process for each of its settings.

Runs itself as that process:

    python -m peers.translators MODEL COMPUTE_TYPE WORKERS THREADS

which reads the jobs of attend-engine-bench (ids in, ids out) from standard
input and answers with the same fields. Ids become tokens before the clock
starts.
"""

import itertools
import json
import os
import pathlib
import subprocess
import sys
import time

from checkpoints import random_seq2seq
from harness import machine
from peers import processes


def convert(model, out):
    """By CTranslate2's own converter; a model without a tokenizer gets made-up
    tokens."""
    config = json.loads(pathlib.Path(model, "config.json").read_text())
    if config["model_type"] == "marian":
        return convert_marian(model, out)
    from ctranslate2.converters import transformers as converters

    class Converter(converters.TransformersConverter):
        def load_tokenizer(self, *args, **kwargs):
            return random_seq2seq.TokensOfIds(config)

    Converter(str(model)).convert(str(out), force=True)


def convert_marian(model, out):
    """CTranslate2's own loader drops <pad> and starts the decoder from a zero
    vector. The models here start from the vector of <pad>, so this keeps it, and
    then greedy ids agree."""
    from ctranslate2.converters import transformers as converters

    class Loader(converters.MarianMTLoader):
        def set_config(self, config, model, tokenizer):
            super().set_config(config, model, tokenizer)
            config.decoder_start_token = tokenizer.pad_token

        def set_decoder(self, spec, decoder):
            converters.BartLoader.set_decoder(self, spec, decoder)

        def get_vocabulary(self, model, tokenizer):
            return converters.BartLoader.get_vocabulary(self, model, tokenizer)

        def _remove_pad_weights(self, spec):
            pass

    converters._MODEL_LOADERS["MarianConfig"] = Loader()
    converters.TransformersConverter(str(model)).convert(str(out), force=True)


# ------------------------------------------------------- inside of the process

def translate(translator, sources, job, workers):
    options = dict(
        beam_size=job.get("beams", 1), max_input_length=0,
        max_decoding_length=job.get("max_new_tokens", 256),
        min_decoding_length=job.get("min_new_tokens", 0),
        length_penalty=job.get("length_penalty", 1),
        suppress_sequences=[["<pad>"]])
    batch = job.get("peer_batch") or max(1, job.get("in_flight", 1) // workers)
    if job.get("arrival") == "batches":
        # As they come: so many at a time, as many batches as fit its queue.
        pending = [translator.translate_batch(
            sources[i:i + batch], asynchronous=True, **options)
            for i in range(0, len(sources), batch)]
        return [result.result() for result in itertools.chain(*pending)]
    if job.get("in_flight", 1) == 1:
        return [translator.translate_batch([source], **options)[0]
                for source in sources]
    return translator.translate_batch(sources, max_batch_size=batch, **options)


def serve(model, compute_type, workers, threads):
    import ctranslate2
    with open(os.path.join(model, "shared_vocabulary.json"),
              encoding="utf-8") as file:
        tokens = json.load(file)
    ids = {token: i for i, token in enumerate(tokens)}
    translator = ctranslate2.Translator(
        model, device="cpu", compute_type=compute_type, inter_threads=workers,
        intra_threads=threads)
    for line in sys.stdin:
        job = json.loads(line)
        sources = [[tokens[i] for i in source] for source in job["sources"]]
        cpu, start = time.process_time(), time.perf_counter()
        results = translate(translator, sources, job, workers)
        seconds = time.perf_counter() - start
        answer = {"seconds": seconds, "cpu_seconds": time.process_time() - cpu}
        outputs = [[ids[token] for token in result.hypotheses[0]]
                   for result in results]
        # End of sequence is not in the result, but was computed.
        limit = job.get("max_new_tokens", 256)
        answer["tokens"] = sum(min(limit, len(o) + 1) for o in outputs)
        if job.get("outputs"):
            answer["outputs"] = outputs
        print(json.dumps(answer), flush=True)


# --------------------------------------------------------------- outside of it

class CTranslate2:
    """One setting, in a process of its own."""

    def __init__(self, model, compute_type, setting, no_amx=False):
        workers, threads, mkl, isa = setting
        self.name = f"{workers}x{threads} MKL={mkl} {isa or 'default'}"
        environment = {"CT2_USE_MKL": str(mkl), "OMP_NUM_THREADS": str(threads)}
        if no_amx:
            environment |= machine.NO_AMX_ENVIRONMENT
        elif isa:
            environment["CT2_FORCE_CPU_ISA"] = isa
        self.process = processes.start(
            "translators", [model, compute_type, workers, threads],
            environment, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def run(self, job):
        """None where the setting does not run on this machine."""
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()


def settings(cpus, no_amx=False):
    """(workers, threads, MKL, instruction set) that a peer may choose from."""
    teams = sorted({(cpus, 1), (1, cpus)}, reverse=True)
    wide = "avx512f" in machine.cpu()["flags"] and not no_amx
    isas = [None, "AVX512"] if wide else [None]
    return [(workers, threads, mkl, isa) for workers, threads in teams
            for mkl in (0, 1) for isa in isas]


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
