"""ONNX Runtime GenAI, by the loop of its own examples."""

import subprocess
import sys
import tempfile

import numpy
import onnxruntime_genai

from peers.decoders.log_probs import log_probs

LONGEST = 2048  # positions of a sequence


def write(checkpoint, gguf, precision, out):
    """By its own model builder."""
    del gguf
    with tempfile.TemporaryDirectory() as cache:
        subprocess.run(
            [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i",
             checkpoint, "-o", out, "-p", precision, "-e", "cpu", "-c", cache],
            check=True, stdout=sys.stderr)


def load(precision, setting, model):
    del precision, setting  # the model's own
    return OnnxRuntimeGenAi(model)


class OnnxRuntimeGenAi:

    def __init__(self, model):
        self.model = onnxruntime_genai.Model(model)

    def generator(self, sources, length):
        params = onnxruntime_genai.GeneratorParams(self.model)
        params.set_search_options(
            batch_size=len(sources), do_sample=False, max_length=length,
            min_length=length)  # the end of the text does not end it
        generator = onnxruntime_genai.Generator(self.model, params)
        generator.append_tokens(numpy.array(sources, dtype=numpy.int32))
        return generator

    def generate(self, sources, new_tokens):
        length = len(sources[0])
        generator = self.generator(sources, length + new_tokens)
        for _ in range(new_tokens):
            generator.generate_next_token()
        return [generator.get_sequence(i).tolist()[length:]
                for i in range(len(sources))]

    def log_probs(self, ids):
        logits = self.generator([ids], LONGEST).get_output("logits")
        return log_probs(logits[0], ids)
