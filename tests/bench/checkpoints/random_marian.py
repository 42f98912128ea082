#!/usr/bin/env python3
"""Writes a Marian checkpoint with random weights, to measure speed with.

    python3 tests/bench/checkpoints/random_marian.py /tmp/opus-base

The default shape is that of OPUS-MT's base models: d 512, 6 + 6 layers, FFN
2048, 8 heads, 58,101 tokens. The directory is complete: attend-server serves
it, transformers and CTranslate2's converter read it. Tokens are those of the
bundled model, then "▁x8000", "▁x8001", ... up to <pad>, the last one. The same
flags give the same bytes. Needs numpy.
"""

import argparse
import json
import math
import pathlib
import shutil
import struct

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUNDLED = ROOT / "models/en-de"
EOS = 0


def config(args):
    pad = args.vocab - 1
    return {
        "architectures": ["MarianMTModel"], "model_type": "marian",
        "is_encoder_decoder": True, "activation_function": "swish",
        "d_model": args.d_model, "vocab_size": args.vocab,
        "decoder_vocab_size": args.vocab,
        "encoder_layers": args.layers, "decoder_layers": args.layers,
        "encoder_attention_heads": args.heads,
        "decoder_attention_heads": args.heads,
        "encoder_ffn_dim": args.ffn, "decoder_ffn_dim": args.ffn,
        "max_position_embeddings": args.max_positions,
        "static_position_embeddings": True, "scale_embedding": True,
        "share_encoder_decoder_embeddings": True, "tie_word_embeddings": True,
        "eos_token_id": EOS, "pad_token_id": pad, "decoder_start_token_id": pad,
        "bos_token_id": None, "forced_eos_token_id": None, "dtype": "float16",
    }


def generation_config(args):
    """No forced end of sequence: with min = max new tokens there is none."""
    pad = args.vocab - 1
    return {"bad_words_ids": [[pad]], "decoder_start_token_id": pad,
            "eos_token_id": EOS, "pad_token_id": pad, "num_beams": 1,
            "max_length": args.max_positions}


def vocabulary(args):
    bundled = json.loads((BUNDLED / "vocab.json").read_text(encoding="utf-8"))
    pad = args.vocab - 1
    words = {word: i for word, i in bundled.items() if word != "<pad>"}
    if max(words.values()) >= pad:
        raise SystemExit(f"--vocab must be above {max(words.values()) + 1}")
    used = set(words.values())
    words |= {f"▁x{i}": i for i in range(pad) if i not in used}
    return words | {"<pad>": pad}


def tensors(args):
    """Names and shapes, in the order in which they are drawn and stored."""
    hidden = args.d_model
    yield "model.shared.weight", (args.vocab, hidden)
    yield "final_logits_bias", (1, args.vocab)
    for stack, attentions in (("encoder", ["self_attn"]),
                              ("decoder", ["self_attn", "encoder_attn"])):
        for i in range(args.layers):
            layer = f"model.{stack}.layers.{i}."
            maps = [(f"{attention}.{part}_proj", hidden, hidden)
                    for attention in attentions for part in ("q", "k", "v", "out")]
            maps += [("fc1", args.ffn, hidden), ("fc2", hidden, args.ffn)]
            for name, rows, cols in maps:
                yield f"{layer}{name}.weight", (rows, cols)
                yield f"{layer}{name}.bias", (rows,)
            for name in [f"{a}_layer_norm" for a in attentions + ["final"]]:
                yield f"{layer}{name}.weight", (hidden,)
                yield f"{layer}{name}.bias", (hidden,)


def draw(name, shape, random):
    """Keeps the scale of what passes through: variance 1 / inputs of a map."""
    if name.endswith("norm.weight"):
        return np.ones(shape, np.float16)
    if len(shape) == 1 or name == "final_logits_bias":
        return np.zeros(shape, np.float16)
    values = random.standard_normal(shape, np.float32)
    return (values / math.sqrt(shape[1])).astype(np.float16)


def write_safetensors(path, named_shapes, seed):
    """Tensors of (name, shape), drawn and stored in their order."""
    named_shapes = list(named_shapes)
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in named_shapes:
        begin, end = end, end + 2 * math.prod(shape)
        header[name] = {"dtype": "F16", "shape": shape,
                        "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(seed)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in named_shapes:
            file.write(draw(name, shape, random).tobytes())


def write_model(args):
    out = pathlib.Path(args.directory)
    out.mkdir(parents=True, exist_ok=True)
    for name in ("source.spm", "target.spm", "tokenizer_config.json"):
        shutil.copy(BUNDLED / name, out / name)
    for name, content in (("config.json", config(args)),
                          ("generation_config.json", generation_config(args)),
                          ("vocab.json", vocabulary(args))):
        (out / name).write_text(json.dumps(content, indent=1) + "\n",
                                encoding="utf-8")
    write_safetensors(out / "model.safetensors", tensors(args), args.seed)


def options(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--d-model", type=int, default=512)
    parser.add_argument("--layers", type=int, default=6, help="of each stack")
    parser.add_argument("--ffn", type=int, default=2048)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--vocab", type=int, default=58101)
    parser.add_argument("--max-positions", type=int, default=512)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    write_model(options())
