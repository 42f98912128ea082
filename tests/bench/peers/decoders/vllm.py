"""vLLM for CPUs. int8 is its W8A8: weights rounded for each output, rows when they
are computed."""

import json
import os
import pathlib
import shutil

# Before vllm is imported. The engine in this process has the ids in hand.
os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0",
               "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
               "VLLM_NO_USAGE_STATS": "1"}

import safetensors.torch
import torch
import vllm

LONGEST, SEQUENCES = 2048, 16  # tokens of a step and a sequence, sequences
# The dtype of what is not in int8.
DTYPES = {"int8": "bfloat16", "bfloat16": "bfloat16", "float32": "float32"}
INT8 = {"num_bits": 8, "type": "int", "symmetric": True}
W8A8 = {
    "quant_method": "compressed-tensors", "format": "int-quantized",
    "quantization_status": "compressed", "ignore": ["lm_head"],
    "config_groups": {"group_0": {
        "targets": ["Linear"],
        "weights": INT8 | {"strategy": "channel", "dynamic": False},
        "input_activations": INT8 | {"strategy": "token", "dynamic": True}}}}


def rounded(name, tensor):
    """A weight of a layer, and its scales."""
    if not name.endswith("_proj.weight"):
        return {name: tensor}
    scale = tensor.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
    return {name: (tensor / scale).round().to(torch.int8),
            f"{name}_scale": scale}


def write(checkpoint, gguf, precision, out):
    """The checkpoint, or one in the format of compressed-tensors."""
    del gguf
    shutil.copytree(checkpoint, out)
    if precision != "int8":
        return
    out = pathlib.Path(out)
    for path in out.glob("*.safetensors"):
        tensors = {}
        for name, tensor in safetensors.torch.load_file(path).items():
            tensors |= rounded(name, tensor)
        path.unlink()  # the next line writes to what is mapped otherwise
        safetensors.torch.save_file(tensors, path, metadata={"format": "pt"})
    # It would name tensors that are rounded now, and not their scales.
    (out / "model.safetensors.index.json").unlink(missing_ok=True)
    config = json.loads((out / "config.json").read_text())
    (out / "config.json").write_text(
        json.dumps(config | {"quantization_config": W8A8}))


def load(precision, setting, model):
    del setting
    return Vllm(precision, model)


class Vllm:

    def __init__(self, precision, model):
        self.llm = vllm.LLM(
            model, dtype=DTYPES[precision], max_model_len=LONGEST,
            max_num_batched_tokens=LONGEST, max_num_seqs=SEQUENCES,
            enable_prefix_caching=False)  # no prompt comes twice

    def run(self, sources, new_tokens, **options):
        return self.llm.generate(
            [{"prompt_token_ids": source} for source in sources],
            vllm.SamplingParams(temperature=0, max_tokens=new_tokens,
                                ignore_eos=True, **options), use_tqdm=False)

    def generate(self, sources, new_tokens):
        return [list(result.outputs[0].token_ids)
                for result in self.run(sources, new_tokens)]

    def log_probs(self, ids):
        [result] = self.run([ids], 1, prompt_logprobs=0)
        return [alternatives[id_].logprob for alternatives, id_ in zip(
            result.prompt_logprobs[1:], ids[1:])]
