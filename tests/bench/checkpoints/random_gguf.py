#!/usr/bin/env python3
"""Writes a GGUF file of a decoder with random weights, to measure speed with.

    /tmp/bench/bin/python tests/bench/checkpoints/random_gguf.py /tmp/random.gguf

The shape is that of Qwen2.5-1.5B: 28 layers, d 1,536, 12 heads, of which 2 have
keys and values, FFN 8,960, 151,936 tokens, whose table is also the last matrix.
Each matrix is Q4_0: codes are drawn, and the scale of a block is such that a
product keeps the size of what it multiplies. Tokens are those of SmolLM2, and
behind them "<49152>", "<49153>", ... The same bytes each time.
"""

import argparse
import math

import gguf
import numpy

try:
    from checkpoints import smollm2
except ImportError:  # run alone
    import smollm2

LAYERS, HIDDEN, FFN, HEADS, KV_HEADS = 28, 1536, 8960, 12, 2
VOCAB, POSITIONS = 151936, 32768
HEAD = HIDDEN // HEADS
BLOCK, BLOCK_BYTES = 32, 18
# Codes are 1 to 15, less 8: uniform, so that a weight's mean is 0.
DEVIATION = math.sqrt((15 ** 2 - 1) / 12)
TOKENIZER = ("model", "pre", "tokens", "token_type", "merges", "bos_token_id",
             "eos_token_id")


def matrices():
    """Names, rows and columns."""
    yield "token_embd", VOCAB, HIDDEN
    for i in range(LAYERS):
        for name, rows, columns in (
                ("attn_q", HIDDEN, HIDDEN), ("attn_k", KV_HEADS * HEAD, HIDDEN),
                ("attn_v", KV_HEADS * HEAD, HIDDEN),
                ("attn_output", HIDDEN, HIDDEN), ("ffn_gate", FFN, HIDDEN),
                ("ffn_up", FFN, HIDDEN), ("ffn_down", HIDDEN, FFN)):
            yield f"blk.{i}.{name}", rows, columns


def vectors():
    """Names, lengths and what each of its numbers is."""
    yield "output_norm.weight", HIDDEN, 1
    for i in range(LAYERS):
        yield f"blk.{i}.attn_norm.weight", HIDDEN, 1
        yield f"blk.{i}.ffn_norm.weight", HIDDEN, 1
        yield f"blk.{i}.attn_q.bias", HIDDEN, 0
        yield f"blk.{i}.attn_k.bias", KV_HEADS * HEAD, 0
        yield f"blk.{i}.attn_v.bias", KV_HEADS * HEAD, 0


def weights():
    """How many numbers all matrices have; a new token reads each."""
    return sum(rows * columns for _, rows, columns in matrices())


def draw(rows, columns, random):
    """Blocks of Q4_0: a scale in f16, then two codes a byte."""
    blocks = numpy.empty((rows, columns // BLOCK, BLOCK_BYTES), numpy.uint8)
    scale = numpy.float16(1 / (DEVIATION * math.sqrt(columns)))
    blocks[..., :2] = numpy.array([scale]).view(numpy.uint8)
    codes = random.integers(1, 16, (2, *blocks[..., 2:].shape), numpy.uint8)
    blocks[..., 2:] = codes[0] | codes[1] << 4
    return blocks.reshape(rows, -1)


def add_tokenizer(writer, vocab=VOCAB):
    """That of SmolLM2, with tokens that no text has behind its own."""
    fields = gguf.GGUFReader(smollm2.gguf()).fields
    found = {name: fields[f"tokenizer.ggml.{name}"].contents()
             for name in TOKENIZER}
    own = len(found["tokens"])
    writer.add_tokenizer_model(found["model"])
    writer.add_tokenizer_pre(found["pre"])
    writer.add_token_list(
        found["tokens"] + [f"<{i}>" for i in range(own, vocab)])
    writer.add_token_types(
        found["token_type"] + [gguf.TokenType.UNUSED] * (vocab - own))
    writer.add_token_merges(found["merges"])
    writer.add_bos_token_id(found["bos_token_id"])
    writer.add_eos_token_id(found["eos_token_id"])


def write(path, seed=1):
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_context_length(POSITIONS)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(1e6)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    add_tokenizer(writer)
    random = numpy.random.default_rng(seed)
    for name, length, number in vectors():
        writer.add_tensor(name, numpy.full(length, number, numpy.float32))
    for name, rows, columns in matrices():
        writer.add_tensor(f"{name}.weight", draw(rows, columns, random),
                          raw_dtype=gguf.GGMLQuantizationType.Q4_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path")
    write(parser.parse_args().path)
