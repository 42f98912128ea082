#!/usr/bin/env python3
"""Writes tests/golden/quantized: tiny Llamas with random weights, quantised as
AWQ, GPTQ, compressed-tensors and torchao write them, and what transformers
computes in f32 with the numbers that the files stand for.

    python3 -m venv /tmp/quantized && cd /tmp/quantized
    bin/pip install torch==2.15.0 transformers==5.23.0 safetensors==0.8.0 \\
        numpy==2.4.6 compressed-tensors==0.20.0 torchao==0.18.0 accelerate
    bin/pip download --no-deps auto-gptq==0.7.1 && unzip -o auto_gptq*.whl
    bin/pip download --no-deps autoawq==0.2.9 && tar xf autoawq*.tar.gz
    bin/python .../tests/golden/make_quantized.py [NAME...]

What files stand for is always said by the reader of the format's own tool, in
f32: AutoAWQ's dequantize_gemm, AutoGPTQ's QuantLinear (which also packs), the
compressors of compressed-tensors and torchao's Int8Tensor. The kernels of the
first two need a GPU, so these two files of theirs are loaded alone. GPTQModel's
second format has zeros as they are, where AutoGPTQ stores them less one. A
directory of compressed-tensors without zeros (transformers 5.23 does not read
those) is read back by transformers itself, too, and so is one of torchao, which
transformers writes.

A fixture is tests/golden/quantized/NAME/: a directory as transformers saves it,
and expected.json as make_golden.py describes it: "generate", greedy, and
"score".
"""

import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import safetensors.torch
import torch
import transformers
from compressed_tensors.compressors.naive_quantized.base import (
    IntQuantizationCompressor)
from compressed_tensors.compressors.pack_quantized.base import (
    PackedQuantizationCompressor)
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from torchao.quantization import Int8WeightOnlyConfig
from torchao.quantization.quantize_.workflows import Int8Tensor

OUT = pathlib.Path(__file__).resolve().parent / "quantized"
CONFIG = dict(hidden_size=64, intermediate_size=96, num_hidden_layers=1,
              num_attention_heads=4, num_key_value_heads=2, vocab_size=67,
              max_position_embeddings=64, bos_token_id=1, eos_token_id=2,
              rope_theta=500.0)
GROUP = 16


def load_file(path):
    """A Python file of an unpacked package, alone."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


awq_packing = load_file("autoawq-0.2.9/awq/utils/packing_utils.py")
auto_gptq = load_file("auto_gptq/nn_modules/qlinear/qlinear_cuda.py")


def parameters(weight, bits, groups, symmetric):
    """Scales (as f16 holds them) and zeros [out, groups] of weight [out, in]."""
    count = int(groups.max()) + 1
    scales = torch.zeros(weight.shape[0], count)
    zeros = torch.zeros(weight.shape[0], count)
    for g in range(count):
        part = weight[:, groups == g]
        low, high = part.min(1).values, part.max(1).values
        if symmetric:
            scale = part.abs().max(1).values / (2 ** (bits - 1) - 1)
        else:
            scale = (high - low) / (2 ** bits - 1)
        scales[:, g] = scale.half().float()
        zeros[:, g] = (2 ** (bits - 1) if symmetric else
                       torch.clip(torch.round(-low / scales[:, g]), 1,
                                  2 ** bits - 1))
    return scales, zeros


def neighbours(width):
    return torch.arange(width) // GROUP


def awq(weight, rng):
    groups = neighbours(weight.shape[1])
    scales, zeros = parameters(weight, 4, groups, False)
    numbers = torch.clip(torch.round(weight / scales[:, groups])
                         + zeros[:, groups], 0, 15)

    def pack(matrix):  # [rows, out], 8 numbers to a word
        ordered = matrix.numpy().astype(np.uint32).reshape(
            matrix.shape[0], -1, 8)[:, :, awq_packing.AWQ_ORDER]
        shifts = np.arange(8, dtype=np.uint32) * 4
        words = (ordered << shifts).sum(-1, dtype=np.uint32)
        return torch.tensor(np.ascontiguousarray(words.view(np.int32)))
    parts = {"qweight": pack(numbers.T), "qzeros": pack(zeros.T),
             "scales": scales.T.half()}
    read = awq_packing.dequantize_gemm(parts["qweight"], parts["qzeros"],
                                       parts["scales"].float(), 4, GROUP)
    return parts, read.T


def gptq(bits, second_format=False, group_size=GROUP, shuffled=True):
    def layer(weight, rng):
        out, width = weight.shape
        size = width if group_size == -1 else group_size
        groups = torch.arange(width) // size
        if shuffled:
            groups = groups[torch.tensor(rng.permutation(width))]
        scales, zeros = parameters(weight, bits, groups, False)
        linear = torch.nn.Linear(width, out, bias=False)
        linear.weight.data = weight
        module = auto_gptq.QuantLinear(bits, group_size, width, out, False)
        module.pack(linear, scales, zeros, groups.int())
        read = module(torch.eye(width)).detach()
        parts = {name: getattr(module, name)
                 for name in ("qweight", "qzeros", "g_idx")}
        if second_format:
            words = parts["qzeros"].numpy().view(np.uint32)
            one = np.uint32(0xffffffff // (2 ** bits - 1))
            parts["qzeros"] = torch.tensor((words + one).view(np.int32))
        return {**parts, "scales": module.scales.half()}, read.T
    return layer


def compressed(compressor, scheme):
    """Weights as compressed-tensors stores them, with scales in f32: then its
    readers compute in f32."""
    def layer(weight, rng):
        args = scheme.weights
        if args.strategy == "group":
            groups = neighbours(weight.shape[1])
        else:
            groups = torch.zeros(weight.shape[1], dtype=torch.int64)
        scales, zeros = parameters(weight, args.num_bits, groups,
                                   args.symmetric)
        state = {"weight": weight, "weight_scale": scales}
        if not args.symmetric:
            state["weight_zero_point"] = (
                zeros - 2 ** (args.num_bits - 1)).to(torch.int8)
        parts = compressor.compress(state, scheme)
        return parts, compressor.decompress(parts, scheme)["weight"].float()
    return layer


def compressed_tensors(compressor, weights):
    """How to quantise a layer, and quantization_config."""
    scheme = QuantizationScheme(targets=["Linear"],
                                weights=QuantizationArgs(**weights))
    form = ("int-quantized" if compressor is IntQuantizationCompressor
            else "pack-quantized")
    return compressed(compressor, scheme), {
        "quant_method": "compressed-tensors", "format": form,
        "quantization_status": "compressed", "ignore": ["lm_head"],
        "kv_cache_scheme": None, "sparsity_config": {},
        "config_groups": {"group_0": {
            "format": form, "targets": ["Linear"], "input_activations": None,
            "output_activations": None, "weights": {"type": "int", **weights}}}}


def gptq_config(bits, group_size=GROUP, **more):
    return {"quant_method": "gptq", "bits": bits, "group_size": group_size,
            "sym": False, **more}


PACKED, INT = PackedQuantizationCompressor, IntQuantizationCompressor
FIXTURES = {
    "awq": (awq, {"quant_method": "awq", "bits": 4, "group_size": GROUP,
                  "version": "gemm", "zero_point": True}),
    "gptq-4-bits": (gptq(4), gptq_config(4, desc_act=True)),
    "gptq-2-bits-rows": (gptq(2, group_size=-1, shuffled=False),
                         gptq_config(2, -1, desc_act=False)),
    "gptq-v2-8-bits": (gptq(8, True), gptq_config(
        8, desc_act=True, checkpoint_format="gptq_v2")),
    "compressed-tensors-4-bits": compressed_tensors(PACKED, dict(
        num_bits=4, strategy="group", group_size=GROUP, symmetric=False)),
    "compressed-tensors-symmetric": compressed_tensors(PACKED, dict(
        num_bits=4, strategy="group", group_size=GROUP, symmetric=True)),
    "compressed-tensors-8-bits-rows": compressed_tensors(PACKED, dict(
        num_bits=8, strategy="channel", symmetric=False)),
    "compressed-tensors-int8": compressed_tensors(INT, dict(
        num_bits=8, strategy="channel", symmetric=True)),
    "torchao-int8": Int8WeightOnlyConfig(),
}
READ_BACK = ["compressed-tensors-symmetric", "compressed-tensors-int8",
             "torchao-int8"]


def random_numbers(like, rng):
    noise = torch.tensor(rng.standard_normal(like.shape)).float()
    return 1 + 0.2 * noise if like.dim() == 1 else 0.3 * noise


def torchao(model, config, rng, folder):
    """Writes the model by transformers; then it has the numbers of the files."""
    for value in model.parameters():
        value.copy_(random_numbers(value, rng))
    with tempfile.TemporaryDirectory() as plain:
        model.save_pretrained(plain)
        quantised = transformers.AutoModelForCausalLM.from_pretrained(
            plain, dtype=torch.float32,
            quantization_config=transformers.TorchAoConfig(config))
    quantised.save_pretrained(folder)
    (folder / "generation_config.json").unlink()
    for key, value in quantised.named_parameters():
        if isinstance(value.data, Int8Tensor):
            model.get_parameter(key).copy_(value.data.dequantize())


def generate(model, source):
    params = dict(num_beams=1, do_sample=False, max_new_tokens=20)
    out = model.generate(torch.tensor([source]), **params)[0]
    return dict(name="greedy", source=source, params=params,
                choices=[{"ids": out[len(source):].tolist()}])


def score(model, source, target):
    ids = torch.tensor([source + target])
    with torch.no_grad():
        rows = torch.log_softmax(model(ids).logits[0], -1)
    log_probs = [rows[len(source) - 1 + i, t].item()
                 for i, t in enumerate(target)]
    return dict(source=source, target=target, log_probs=log_probs,
                sum=sum(log_probs))


def quantise(model, layer, quantization, rng, folder):
    """Writes the model; then it has the numbers of the files."""
    tensors = {}
    for key, value in model.named_parameters():
        numbers = random_numbers(value, rng)
        if "proj" not in key:
            tensors[key] = numbers.half()
            value.copy_(tensors[key])
            continue
        parts, read = layer(numbers, rng)
        assert (read - numbers).abs().mean() < 0.8 * numbers.abs().mean()
        value.copy_(read)
        for part, tensor in parts.items():
            tensors[f"{key.removesuffix('.weight')}.{part}"] = (
                tensor.contiguous())
    safetensors.torch.save_file(tensors, folder / "model.safetensors",
                                metadata={"format": "pt"})
    config = {**model.config.to_dict(), "architectures": ["LlamaForCausalLM"],
              "quantization_config": quantization}
    (folder / "config.json").write_text(
        json.dumps(config, indent=1, sort_keys=True) + "\n")


@torch.no_grad()
def make(name, seed):
    rng = np.random.default_rng(seed)
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**CONFIG)).eval()
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if name == "torchao-int8":
        torchao(model, FIXTURES[name], rng, folder)
    else:
        quantise(model, *FIXTURES[name], rng, folder)
    sources = [rng.integers(3, CONFIG["vocab_size"], length).tolist()
               for length in (4, 7, 10)]
    generated = [generate(model, source) for source in sources]
    scored = [score(model, source, case["choices"][0]["ids"][::-1])
              for source, case in zip(sources, generated)]
    if name in READ_BACK:
        twin = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32).eval()
        assert [generate(twin, source) for source in sources] == generated

    def lines(cases):
        return "[\n  " + ",\n  ".join(map(json.dumps, cases)) + "]"
    (folder / "expected.json").write_text(
        f'{{"transformers": "{transformers.__version__}",\n "generate": '
        f'{lines(generated)},\n "score": {lines(scored)}}}\n')
    print(folder, sum(path.stat().st_size for path in folder.iterdir()))


if __name__ == "__main__":
    for number, fixture in enumerate(FIXTURES):
        if fixture in (sys.argv[1:] or FIXTURES):
            make(fixture, 1 + number)
