"""CTranslate2's Generator."""

import json
import os

import ctranslate2
from ctranslate2.converters import transformers as converters

from peers.decoders import threads


def write(checkpoint, gguf, precision, out):
    """By its own converter; it changes the numbers when it loads them."""
    del gguf, precision
    converters.TransformersConverter(checkpoint).convert(str(out))


def load(precision, setting, model):
    del setting
    return CTranslate2(precision, model)


class CTranslate2:

    def __init__(self, precision, model):
        self.generator = ctranslate2.Generator(
            model, device="cpu", compute_type=precision, inter_threads=1,
            intra_threads=threads.count())
        with open(os.path.join(model, "vocabulary.json"),
                  encoding="utf-8") as file:
            self.tokens = json.load(file)

    def generate(self, sources, new_tokens):
        results = self.generator.generate_batch(
            [[self.tokens[id_] for id_ in source] for source in sources],
            max_length=new_tokens, min_length=new_tokens, sampling_topk=1,
            include_prompt_in_result=False, end_token=[], max_batch_size=0)
        return [result.sequences_ids[0] for result in results]

    def log_probs(self, ids):
        [result] = self.generator.score_batch(
            [[self.tokens[id_] for id_ in ids]])
        return result.log_probs
