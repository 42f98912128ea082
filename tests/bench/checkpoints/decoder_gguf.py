"""The GGUF file in BF16 of a checkpoint of random_decoder.py, the same weights by the
names and in the order of rows that llama.cpp wants. A matrix at a time is in memory."""

import json
import math
import pathlib
import struct

import gguf
import numpy

from checkpoints import random_gguf

NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm",
    "lm_head": "output", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
}


def name_of(name):
    """model.layers.3.mlp.up_proj.weight -> blk.3.ffn_up.weight"""
    stem, kind = name.rsplit(".", 1)
    if not stem.startswith("model.layers."):
        return f"{NAMES[stem]}.{kind}"
    _, _, layer, rest = stem.split(".", 3)
    return f"blk.{layer}.{NAMES[rest]}.{kind}"


def stored(folder):
    """Names -> bits of bf16, mapped from the shards."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("model-*.safetensors")):
        with open(path, "rb") as file:
            length, = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
        data = numpy.memmap(path, numpy.uint8, "r", 8 + length)
        for name, entry in header.items():
            if name != "__metadata__":
                begin, end = entry["data_offsets"]
                found[name] = data[begin:end].view(numpy.uint16).reshape(
                    entry["shape"])
    return found


def arranged(name, bits, config):
    """Its llama rotates neighbouring rows of a head and not its halves."""
    heads = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}
    head = heads.get(name.split(".")[-2])
    if config["model_type"] != "llama" or head is None:
        return bits
    return bits.reshape(config[head], 2, -1, bits.shape[1]).swapaxes(
        1, 2).reshape(bits.shape)


def rope_factors(config):
    """What Llama 3.1 divides each frequency by."""
    scaling = config["rope_scaling"]
    original = scaling["original_max_position_embeddings"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    half = config["head_dim"] // 2
    waves = 2 * math.pi * config["rope_theta"] ** (numpy.arange(half) / half)
    smooth = numpy.clip((original / waves - low) / (high - low), 0, 1)
    return (1 / ((1 - smooth) / scaling["factor"] + smooth)).astype(numpy.float32)


class Matrix:
    """An array, as far as the writer asks, which is arranged when it is written."""

    dtype = numpy.dtype(numpy.uint8)

    def __init__(self, name, bits, config):
        self.name, self.bits, self.config = name, bits, config
        self.shape = bits.shape[0], 2 * bits.shape[1]  # in bytes
        self.nbytes = bits.nbytes

    def tofile(self, file):
        numpy.ascontiguousarray(
            arranged(self.name, self.bits, self.config)).tofile(file)


def add_config(writer, config):
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_dimension_count(
        config["hidden_size"] // config["num_attention_heads"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_BF16)


def write(folder, path):
    """Kept if it is there."""
    path = pathlib.Path(path)
    if path.exists():
        return
    config = json.loads((pathlib.Path(folder) / "config.json").read_text())
    part = path.with_suffix(".part")
    writer = gguf.GGUFWriter(part, config["model_type"])
    add_config(writer, config)
    random_gguf.add_tokenizer(writer, config["vocab_size"])
    if config.get("rope_scaling"):
        writer.add_tensor("rope_freqs.weight", rope_factors(config))
    for name, bits in stored(folder).items():
        if bits.ndim == 1:
            wide = bits.astype(numpy.uint32) << 16
            writer.add_tensor(name_of(name), wide.view(numpy.float32))
        else:
            writer.add_tensor(name_of(name), Matrix(name, bits, config),
                              raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.rename(path)
