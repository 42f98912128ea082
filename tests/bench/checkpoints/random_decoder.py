#!/usr/bin/env python3
"""Writes a decoder with random weights in the shape of a published model, to measure
speed with: a Hugging Face directory in bf16. decoder_gguf.py makes a GGUF file of it.

    /tmp/bench/bin/python tests/bench/checkpoints/random_decoder.py llama-3.2-1b /tmp/1b

config.json has the values of the published one. Each weight is written as it is
drawn, so that memory is bounded by a block of a matrix, whatever the size of the
model. Tokens are those of SmolLM2; ids above have no text. The same bytes each time.
"""

import argparse
import json
import math
import pathlib
import struct

import numpy

try:
    from checkpoints import smollm2
except ImportError:  # run alone
    import smollm2

SHARD_BYTES = 2 << 30
BLOCK = 1 << 24  # weights that are drawn at once
BF16_ONE = 0x3F80


def _llama(hidden, ffn, layers, heads, kv_heads, rope_factor, tied, **others):
    return {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama",
        "hidden_size": hidden, "intermediate_size": ffn,
        "num_hidden_layers": layers, "num_attention_heads": heads,
        "num_key_value_heads": kv_heads, "head_dim": hidden // heads,
        "vocab_size": 128256, "max_position_embeddings": 131072,
        "hidden_act": "silu", "rms_norm_eps": 1e-5, "attention_bias": False,
        "mlp_bias": False, "rope_theta": 500000.0, "rope_scaling": {
            "rope_type": "llama3", "factor": rope_factor,
            "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192},
        "tie_word_embeddings": tied, "bos_token_id": 128000,
        "eos_token_id": 128001, "torch_dtype": "bfloat16"} | others


def _qwen2(hidden, ffn, layers, heads, kv_heads, vocab, tied, positions):
    return {
        "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2",
        "hidden_size": hidden, "intermediate_size": ffn,
        "num_hidden_layers": layers, "num_attention_heads": heads,
        "num_key_value_heads": kv_heads, "vocab_size": vocab,
        "max_position_embeddings": positions, "hidden_act": "silu",
        "rms_norm_eps": 1e-6, "rope_theta": 1000000.0,
        "use_sliding_window": False, "tie_word_embeddings": tied,
        "bos_token_id": 151643, "eos_token_id": 151643,
        "torch_dtype": "bfloat16"}


SHAPES = {
    # Two layers, to try the scripts with.
    "llama-tiny": _llama(256, 512, 2, 4, 2, 32.0, True),
    "qwen2.5-0.5b": _qwen2(896, 4864, 24, 14, 2, 151936, True, 32768),
    "llama-3.2-1b": _llama(2048, 8192, 16, 32, 8, 32.0, True),
    "qwen2.5-7b": _qwen2(3584, 18944, 28, 28, 4, 152064, False, 131072),
    "llama-3.1-8b": _llama(4096, 14336, 32, 32, 8, 8.0, False),
}


def layer_maps(config):
    """Names of the matrices of a layer, rows and columns."""
    hidden, ffn = config["hidden_size"], config["intermediate_size"]
    kv = (hidden // config["num_attention_heads"]
          * config["num_key_value_heads"])
    return [("self_attn.q_proj", hidden, hidden), ("self_attn.k_proj", kv, hidden),
            ("self_attn.v_proj", kv, hidden), ("self_attn.o_proj", hidden, hidden),
            ("mlp.gate_proj", ffn, hidden), ("mlp.up_proj", ffn, hidden),
            ("mlp.down_proj", hidden, ffn)]


def tensors(config):
    """Names and shapes, in the order in which they are drawn and stored."""
    hidden = config["hidden_size"]
    table = (config["vocab_size"], hidden)
    yield "model.embed_tokens.weight", table
    for i in range(config["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        for name, rows, columns in layer_maps(config):
            yield f"{layer}{name}.weight", (rows, columns)
            if config["model_type"] == "qwen2" and name[-6:] in (
                    "q_proj", "k_proj", "v_proj"):
                yield f"{layer}{name}.bias", (rows,)
        yield f"{layer}input_layernorm.weight", (hidden,)
        yield f"{layer}post_attention_layernorm.weight", (hidden,)
    yield "model.norm.weight", (hidden,)
    if not config["tie_word_embeddings"]:
        yield "lm_head.weight", table


def step_weights(shape):
    """Weights of the matrices that a new token is multiplied with: those of the
    layers alone, and of the projection to the vocabulary."""
    config = SHAPES[shape]
    layers = config["num_hidden_layers"] * sum(
        rows * columns for _, rows, columns in layer_maps(config))
    return layers, config["vocab_size"] * config["hidden_size"]


def parameters(shape):
    return sum(math.prod(size) for _, size in tensors(SHAPES[shape]))


def bf16(values):
    """The bits, rounded to nearest."""
    bits = numpy.asarray(values, numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def draw(name, size, random, deviates):
    """Blocks of bf16 bits. A product keeps the size of what it multiplies."""
    if len(size) == 1:
        yield numpy.full(size, 0 if name.endswith("bias") else BF16_ONE,
                         numpy.uint16)
        return
    table = bf16(deviates / math.sqrt(size[1]))
    for begin in range(0, math.prod(size), BLOCK):
        count = min(BLOCK, math.prod(size) - begin)
        yield table[numpy.frombuffer(random.bytes(2 * count), numpy.uint16)]


def shards(config):
    """Lists of tensors, none with more bytes than SHARD_BYTES if it has several."""
    found, used = [], 0
    for name, size in tensors(config):
        count = 2 * math.prod(size)
        if not found or used + count > SHARD_BYTES:
            found.append([])
            used = 0
        found[-1].append((name, size))
        used += count
    return found


def write_shard(path, named_sizes, random, deviates):
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, size in named_sizes:
        begin, end = end, end + 2 * math.prod(size)
        header[name] = {"dtype": "BF16", "shape": size,
                        "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, size in named_sizes:
            for block in draw(name, size, random, deviates):
                file.write(block)
    return end


def write_checkpoint(shape, folder, seed=1):
    """A Hugging Face directory; kept if it is there."""
    folder = pathlib.Path(folder)
    index_file = folder / "model.safetensors.index.json"
    if index_file.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    config = SHAPES[shape]
    smollm2.write_tokenizer(folder)
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    (folder / "generation_config.json").write_text(json.dumps(
        {name: config[name] for name in ("bos_token_id", "eos_token_id")}))
    random = numpy.random.default_rng(seed)
    deviates = numpy.sort(random.standard_normal(1 << 16, numpy.float32))
    parts = shards(config)
    where, total = {}, 0
    for i, part in enumerate(parts, 1):
        name = f"model-{i:05}-of-{len(parts):05}.safetensors"
        total += write_shard(folder / name, part, random, deviates)
        where |= {tensor: name for tensor, _ in part}
    index_file.write_text(json.dumps(
        {"metadata": {"total_size": total}, "weight_map": where}, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("folder")
    args = parser.parse_args()
    write_checkpoint(args.shape, args.folder)
