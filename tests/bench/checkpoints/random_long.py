"""Models of random weights with positions for very long sources, as Hugging Face
directories without a tokenizer."""

import dataclasses
import json
import pathlib

from checkpoints import random_marian

VOCAB = 1024
FIRST_ID = 8  # of ordinary tokens


@dataclasses.dataclass(frozen=True)
class Shape:
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int

    def kv_width(self):
        return self.hidden // self.heads * self.kv_heads


SHAPES = {
    # ModernBERT-base's, but for its vocabulary.
    "encoder": Shape(hidden=768, layers=22, heads=12, kv_heads=12, ffn=1152),
    # SmolLM2-135M's, but for its vocabulary.
    "decoder": Shape(hidden=576, layers=30, heads=9, kv_heads=3, ffn=1536),
    "small-encoder": Shape(hidden=128, layers=3, heads=2, kv_heads=2, ffn=256),
    "small-decoder": Shape(hidden=128, layers=2, heads=2, kv_heads=1, ffn=384),
}


def _llama(shape):
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama",
              "hidden_act": "silu", "rms_norm_eps": 1e-5,
              "num_key_value_heads": shape.kv_heads,
              "rope_theta": 100000.0, "tie_word_embeddings": True}
    hidden = shape.hidden
    tensors = [("model.embed_tokens.weight", (VOCAB, hidden)),
               ("model.norm.weight", (hidden,))]
    for i in range(shape.layers):
        layer = f"model.layers.{i}."
        tensors += [
            (f"{layer}self_attn.q_proj.weight", (hidden, hidden)),
            (f"{layer}self_attn.k_proj.weight", (shape.kv_width(), hidden)),
            (f"{layer}self_attn.v_proj.weight", (shape.kv_width(), hidden)),
            (f"{layer}self_attn.o_proj.weight", (hidden, hidden)),
            (f"{layer}mlp.gate_proj.weight", (shape.ffn, hidden)),
            (f"{layer}mlp.up_proj.weight", (shape.ffn, hidden)),
            (f"{layer}mlp.down_proj.weight", (hidden, shape.ffn)),
            (f"{layer}input_layernorm.weight", (hidden,)),
            (f"{layer}post_attention_layernorm.weight", (hidden,))]
    return config, tensors


def _modernbert(shape):
    config = {"architectures": ["ModernBertModel"], "model_type": "modernbert",
              "hidden_activation": "gelu", "norm_eps": 1e-5,
              "attention_bias": False, "mlp_bias": False, "norm_bias": False,
              "global_attn_every_n_layers": 3, "local_attention": 128,
              "global_rope_theta": 160000.0, "local_rope_theta": 10000.0}
    hidden = shape.hidden
    tensors = [("embeddings.tok_embeddings.weight", (VOCAB, hidden)),
               ("embeddings.norm.weight", (hidden,)),
               ("final_norm.weight", (hidden,))]
    for i in range(shape.layers):
        layer = f"layers.{i}."
        tensors += [(f"{layer}attn.Wqkv.weight", (3 * hidden, hidden)),
                    (f"{layer}attn.Wo.weight", (hidden, hidden)),
                    (f"{layer}mlp.Wi.weight", (2 * shape.ffn, hidden)),
                    (f"{layer}mlp.Wo.weight", (hidden, shape.ffn)),
                    (f"{layer}mlp_norm.weight", (hidden,))]
        if i > 0:
            tensors.append((f"{layer}attn_norm.weight", (hidden,)))
    return config, tensors


def write_model(name, directory, positions, seed=1):
    """One of SHAPES, which it returns."""
    shape = SHAPES[name]
    make = _llama if name.endswith("decoder") else _modernbert
    config, tensors = make(shape)
    config |= {"vocab_size": VOCAB, "hidden_size": shape.hidden,
               "num_hidden_layers": shape.layers,
               "num_attention_heads": shape.heads,
               "intermediate_size": shape.ffn,
               "max_position_embeddings": positions, "bos_token_id": 1,
               "eos_token_id": 2, "pad_token_id": 0, "cls_token_id": 1,
               "sep_token_id": 2, "dtype": "float16"}
    directory = pathlib.Path(directory)
    (directory / "config.json").write_text(json.dumps(config))
    random_marian.write_safetensors(directory / "model.safetensors", tensors,
                                    seed)
    return shape
