"""OpenVINO GenAI: its pipeline with continuous batching, at its own settings for
the latency of a machine that does nothing else."""

import math
import pathlib

import numpy
import openvino
import openvino_genai

from peers.decoders import threads

LONGEST, SEQUENCES = 2048, 16  # tokens of a step, sequences
CACHE_GIB = 1
# int8 leaves the rest to its choice; it rounds to bf16 where the CPU can.
PROPERTIES = {
    "int8": {},
    "bf16": {"INFERENCE_PRECISION_HINT": "bf16"},
    "f32": {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"},
}


def parameters(checkpoint):
    import safetensors
    count = 0
    for path in pathlib.Path(checkpoint).glob("*.safetensors"):
        with safetensors.safe_open(path, "pt") as file:
            count += sum(math.prod(file.get_slice(name).get_shape())
                         for name in file.keys())
    return count


def write(checkpoint, gguf, precision, out):
    """By optimum-intel."""
    del gguf
    from optimum.intel import OVModelForCausalLM, OVWeightQuantizationConfig
    int8 = precision == "int8"
    config = OVWeightQuantizationConfig(bits=8, sym=False) if int8 else None
    model = OVModelForCausalLM.from_pretrained(
        checkpoint, export=True, load_in_8bit=False, quantization_config=config,
        compile=False)
    model.save_pretrained(out)
    weights = out / "openvino_model.bin"
    if weights.stat().st_size > (1.1 if int8 else 4.1) * parameters(checkpoint):
        raise RuntimeError(f"{weights} has more bytes than {precision} takes")


def load(precision, setting, model):
    del setting
    return OpenVinoGenAi(precision, model)


class OpenVinoGenAi:

    def __init__(self, precision, model):
        scheduler = openvino_genai.SchedulerConfig()
        scheduler.max_num_batched_tokens = LONGEST
        scheduler.max_num_seqs = SEQUENCES
        scheduler.cache_size = CACHE_GIB
        scheduler.enable_prefix_caching = False  # no prompt comes twice
        self.pipeline = openvino_genai.ContinuousBatchingPipeline(
            model, scheduler, "CPU",
            {"PERFORMANCE_HINT": "LATENCY",
             "INFERENCE_NUM_THREADS": threads.count()} | PROPERTIES[precision])

    def run(self, sources, new_tokens, **options):
        config = openvino_genai.GenerationConfig(
            max_new_tokens=new_tokens, ignore_eos=True, do_sample=False,
            **options)
        handles = [self.pipeline.add_request(
            i, openvino.Tensor(numpy.array([source], dtype=numpy.int64)), config)
            for i, source in enumerate(sources)]
        while self.pipeline.has_non_finished_requests():
            self.pipeline.step()
        return [handle.read_all()[0] for handle in handles]

    def generate(self, sources, new_tokens):
        return [output.generated_ids
                for output in self.run(sources, new_tokens)]

    def log_probs(self, ids):
        """Of the prompt, which `echo` gives back."""
        [output] = self.run([ids], 1, echo=True, logprobs=1)
        if output.generated_ids[:len(ids)] != ids:
            raise RuntimeError("the pipeline gives another prompt back")
        return output.generated_log_probs[1:len(ids)]
