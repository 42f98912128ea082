#!/usr/bin/env python3
"""Writes tests/golden/gguf: GGUF files of tiny models, as llama.cpp's converter
would write them, by its own library, and what transformers computes.

    /tmp/golden/bin/pip install gguf==0.19.0    # see make_golden.py
    /tmp/golden/bin/python tests/golden/make_gguf.py [NAME...]

NAME.gguf of a directory NAME in families/ has the same numbers in F32: what is
expected of it is in that directory's expected.json. The models in QUANTISED
have their numbers in quantised blocks alone; NAME.json is what transformers
computes with the numbers that the blocks stand for, as gguf reads them, in the
form of expected.json; "continued" is a prompt and what follows it, as text. blocks.json has blocks of each quantised type, in
hexadecimal, and the numbers that they stand for.
"""

import json
import pathlib
import sys

import gguf
import numpy as np
import torch
import transformers
from gguf import GGMLQuantizationType as Type
from safetensors.numpy import load_file

HERE = pathlib.Path(__file__).resolve().parent
FILES = {
    "llama-4x-linear-rope": "llama",
    "llama-llama3-rope": "llama",
    "mistral-no-window": "llama",
    "qwen2-4x-yarn-rope": "qwen2",
    "qwen3-head-norms": "qwen3",
    "phi3-4x-longrope": "phi3",
    "gemma2-softcaps": "gemma2",
    "gemma3-4x-window-pattern": "gemma3",
    "gpt2-gelu": "gpt2",
    "gpt_neox-parallel": "gptneox",
    "gpt_neox-4x-sequential": "gptneox",
    "bloom-3-heads": "bloom",
    "mpt-clipped": "mpt",
    "starcoder2-layer-norms": "starcoder2",
    "smollm3-every-fourth-without-rope": "smollm3",
    "gemma-wide-heads": "gemma",
    "bert-mean-pooling": "bert",
    "distilbert-max-pooling": "bert",
    "nomic_bert-mean-pooling": "nomic-bert",
    "t5-4x-long": "t5",
    "t5-v1_1-4x": "t5",
    "mt5-4x": "t5",
}
BLOCKS_OF_32 = [Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0,
                Type.IQ4_NL]
BLOCKS_OF_256 = [Type.Q2_K, Type.Q3_K, Type.Q4_K, Type.Q5_K, Type.Q6_K,
                 Type.IQ4_XS]


def swap_halves(weight, heads):
    """What llama.cpp does to the queries and keys of Llama."""
    rows = weight.shape[0]
    return (weight.reshape(heads, 2, rows // heads // 2, *weight.shape[1:])
            .swapaxes(1, 2).reshape(weight.shape))


def swap_back(weight, heads):
    rows = weight.shape[0]
    return (weight.reshape(heads, rows // heads // 2, 2, *weight.shape[1:])
            .swapaxes(1, 2).reshape(weight.shape))


def text_config(folder):
    config = transformers.AutoConfig.from_pretrained(folder)
    rope = getattr(config, "rope_parameters", None) or {}
    return config, rope.get("full_attention", rope)


def add_sizes(writer, config):
    writer.add_block_count(config.num_hidden_layers)
    writer.add_embedding_length(config.hidden_size)
    # T5 has none; the converter writes this.
    length = getattr(config, "max_seq_len", getattr(config, "seq_length", 512))
    writer.add_context_length(getattr(config, "max_position_embeddings", length))
    writer.add_head_count(config.num_attention_heads)
    writer.add_vocab_size(config.vocab_size)
    for role in ("bos", "eos", "pad"):
        token = getattr(config, f"{role}_token_id", None)
        if token is not None:
            getattr(writer, f"add_{role}_token_id")(token)


def add_bert(writer, config, rope):
    distilled = config.model_type == "distilbert"
    writer.add_feed_forward_length(
        config.hidden_dim if distilled else config.intermediate_size)
    writer.add_layer_norm_eps(1e-12 if distilled else config.layer_norm_eps)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    if not distilled:
        writer.add_token_type_count(config.type_vocab_size)
    if rope:
        writer.add_rope_freq_base(rope["rope_theta"])


def add_t5(writer, config):
    writer.add_feed_forward_length(config.d_ff)
    writer.add_decoder_block_count(config.num_decoder_layers)
    writer.add_key_length(config.d_kv)
    writer.add_value_length(config.d_kv)
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    writer.add_layer_norm_rms_eps(config.layer_norm_epsilon)
    writer.add_relative_attn_buckets_count(config.relative_attention_num_buckets)
    writer.add_decoder_start_token_id(config.decoder_start_token_id)


def add_gpt(writer, config, rope, architecture):
    """What the converter writes for decoders without gates."""
    width = getattr(config, "n_inner", getattr(config, "intermediate_size", None))
    writer.add_feed_forward_length(width or 4 * config.hidden_size)
    writer.add_layer_norm_eps(
        getattr(config, "layer_norm_eps", None) or config.layer_norm_epsilon)
    if architecture == "gptneox":
        head = config.hidden_size // config.num_attention_heads
        writer.add_rope_dimension_count(
            int(rope["partial_rotary_factor"] * head))
        # The converter writes no base: llama.cpp has 10,000.
        if rope["rope_theta"] != 10000:
            writer.add_rope_freq_base(rope["rope_theta"])
        writer.add_parallel_residual(config.use_parallel_residual)
    if architecture == "bloom":
        writer.add_head_count_kv(config.num_attention_heads)
    if architecture == "mpt":
        writer.add_clamp_kqv(config.attn_config.clip_qkv)
        writer.add_max_alibi_bias(config.attn_config.alibi_bias_max)


def add_llama_like(writer, config, rope, architecture):
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count_kv(config.num_key_value_heads)
    if architecture == "starcoder2":
        writer.add_layer_norm_eps(config.norm_epsilon)
    else:
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    head = getattr(config, "head_dim", None)
    head = head or config.hidden_size // config.num_attention_heads
    rotated = int(head * rope.get("partial_rotary_factor", 1))
    if architecture in ("llama", "smollm3") or rotated != head:
        writer.add_rope_dimension_count(rotated)
    if head != config.hidden_size // config.num_attention_heads:
        writer.add_key_length(head)
        writer.add_value_length(head)
    writer.add_rope_freq_base(rope["rope_theta"])
    if getattr(config, "sliding_window", None) and architecture != "qwen2":
        writer.add_sliding_window(config.sliding_window)
    if architecture == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if architecture == "gemma3":
        writer.add_uint32("gemma3.attention.sliding_window_pattern", 2)
    if rope["rope_type"] in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(rope["rope_type"]))
        writer.add_rope_scaling_factor(rope["factor"])
    if "original_max_position_embeddings" in rope:
        writer.add_rope_scaling_orig_ctx_len(
            rope["original_max_position_embeddings"])


def llama3_divisors(rope, head):
    """rope_freqs.weight, as convert_hf_to_gguf.py computes it."""
    frequencies = 1 / rope["rope_theta"] ** (
        torch.arange(0, head, 2, dtype=torch.float32) / head)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    original = rope["original_max_position_embeddings"]
    divisors = []
    for frequency in frequencies:
        length = 2 * np.pi / frequency
        if length < original / high:
            divisors.append(1)
        elif length > original / low:
            divisors.append(rope["factor"])
        else:
            smooth = (original / length - low) / (high - low)
            divisors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return np.array(divisors, dtype=np.float32)


def stored(name, weight, config, architecture):
    """A tensor as llama.cpp's converter stores it."""
    if architecture in ("llama", "smollm3"):
        if ".q_proj." in name:
            return swap_halves(weight, config.num_attention_heads)
        if ".k_proj." in name:
            return swap_halves(weight, config.num_key_value_heads)
    if architecture in ("gptneox", "bloom") and ".query_key_value." in name:
        # The three of each head, then the three of all.
        rows = weight.reshape(config.num_attention_heads, 3, -1,
                              *weight.shape[1:])
        return rows.swapaxes(0, 1).reshape(weight.shape)
    if architecture == "gemma" and name.endswith("norm.weight"):
        return weight + 1
    if architecture in ("gemma2", "gemma3"):
        if name.endswith("norm.weight"):
            weight = weight + 1
        # The file says that scores are scaled by the size of a head; the
        # fixtures have another scale, which goes into the queries.
        of_queries = "q_norm" if architecture == "gemma3" else "q_proj"
        if of_queries in name:
            weight = weight * np.float32(
                (config.head_dim / config.query_pre_attn_scalar) ** 0.5)
    if architecture == "gpt2" and name.endswith(
            ("c_attn.weight", "c_proj.weight", "c_fc.weight")):
        return weight.T
    return weight


def write(name):
    architecture = FILES[name]
    folder = HERE / "families" / name
    config, rope = text_config(folder)
    writer = gguf.GGUFWriter(HERE / "gguf" / f"{name}.gguf", architecture)
    writer.add_name(name)
    add_sizes(writer, config)
    writer.add_tokenizer_model("none")
    if architecture in ("gpt2", "gptneox", "bloom", "mpt"):
        add_gpt(writer, config, rope, architecture)
    elif architecture in ("bert", "nomic-bert"):
        add_bert(writer, config, rope)
    elif architecture == "t5":
        add_t5(writer, config)
    else:
        add_llama_like(writer, config, rope, architecture)
    arch = next(key for key, value in gguf.MODEL_ARCH_NAMES.items()
                if value == architecture)
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    if rope.get("rope_type") == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(rope, config.head_dim))
    if rope.get("rope_type") == "longrope":
        for length in ("long", "short"):
            writer.add_tensor(f"rope_factors_{length}.weight", np.array(
                rope[f"{length}_factor"], dtype=np.float32))
    for tensor, weight in load_file(folder / "model.safetensors").items():
        known = tensor.removeprefix("transformer.") if architecture == "bloom" else tensor
        to = names.get_name(known, try_suffixes=(".weight", ".bias"))
        # llama.cpp gives the tokens of both stacks one name.
        if (to is None or tensor.endswith(".attn.bias") or
                tensor in ("encoder.embed_tokens.weight",
                           "decoder.embed_tokens.weight")):
            print(f"{name}: left out {tensor}")
            continue
        writer.add_tensor(to, np.ascontiguousarray(
            stored(tensor, weight, config, architecture)))
    close(writer)


def close(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


# Bytes of a block that are an f16 scale, or an f16 minimum, and their sizes: so
# that the numbers have a mean near 0 and a deviation near 0.1.
SCALES = {
    Type.Q4_0: {0: 0.02}, Type.Q4_1: {0: 0.02, 2: -0.15}, Type.Q5_0: {0: 0.01},
    Type.Q5_1: {0: 0.01, 2: -0.155}, Type.Q8_0: {0: 0.0015},
    Type.Q2_K: {80: 0.012, 82: 0.018}, Type.Q3_K: {108: 0.0025},
    Type.Q4_K: {0: 0.0004, 2: 0.003}, Type.Q5_K: {0: 0.0002, 2: 0.0031},
    Type.Q6_K: {208: 0.00008}, Type.IQ4_NL: {0: 0.0014},
    Type.IQ4_XS: {0: 0.00008},
}


def random_blocks(rng, kind, rows, cols):
    """[rows, bytes of a row]"""
    numbers, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, (rows * cols // numbers, size), dtype=np.uint8)
    for at, scale in SCALES[kind].items():
        scales = (scale * rng.uniform(0.5, 1.5, len(blocks))).astype(np.float16)
        blocks[:, at:at + 2] = scales.view(np.uint8).reshape(-1, 2)
    return blocks.reshape(rows, -1)


MERGES = ["t h", "th e", "Ġ the", "Ġ a", "i n", "e r", "a n", "Ġ an", "o n",
          "r e", "h e", "Ġ w", "Ġ s", "n d", "Ġan d", "a t", "Ġ c", "e n",
          "o r", "i s", "i t", "e s", "o u", "in g", "e d"]
TOKENS = ["<s>", "<pad>", "</s>", *"abcdefghijklmnopqrstuvwxyzĠ.,0123456789",
          *(merge.replace(" ", "") for merge in MERGES)]


def add_tokenizer(writer):
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(TOKENS)
    writer.add_token_types([gguf.TokenType.CONTROL] * 3
                           + [gguf.TokenType.NORMAL] * (len(TOKENS) - 3))
    writer.add_token_merges(MERGES)
    writer.add_add_bos_token(True)
    writer.add_chat_template(
        "{% for message in messages %}<s>{{ message.content }}{% endfor %}")


def continued(model, name):
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        HERE / "gguf", gguf_file=f"{name}.gguf")
    prompt = "the cat and the hat, singing"
    ids = tokenizer(prompt)["input_ids"]
    assert ids[0] == 0, ids
    made = model.generate(torch.tensor([ids]), max_new_tokens=12,
                          do_sample=False)[0, len(ids):].tolist()
    return {"prompt": prompt, "source": ids, "ids": made,
            "text": tokenizer.decode(made, skip_special_tokens=True)}


def write_blocks():
    rng = np.random.default_rng(3)
    cases = {}
    for kind in BLOCKS_OF_32 + BLOCKS_OF_256:
        numbers, _ = gguf.GGML_QUANT_SIZES[kind]
        rows = random_blocks(rng, kind, 2, numbers)
        values = gguf.dequantize(rows, kind)
        cases[kind.name] = [{"block": row.tobytes().hex(),
                             "numbers": value.astype("<f4").tobytes().hex()}
                            for row, value in zip(rows, values)]
    path = HERE / "gguf" / "blocks.json"
    path.write_text(json.dumps(cases, indent=1) + "\n")


# Hidden size, head size, width, and a type for each matrix in turn.
QUANTISED = {
    "llama-blocks-of-32": (64, 16, 96, 2, BLOCKS_OF_32 + [Type.F16, Type.BF16]),
    "llama-blocks-of-256": (256, 16, 64, 1, BLOCKS_OF_256),
}


def quantised(writer, rng, model, kinds):
    """Gives the model's matrices and the file the same random numbers."""
    config = model.config
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA,
                                     config.num_hidden_layers)
    count = 0
    for name, tensor in model.named_parameters():
        to = names.get_name(name, try_suffixes=(".weight",))
        if tensor.dim() == 1:
            tensor += torch.tensor(rng.normal(0, 0.2, tensor.shape))
            writer.add_tensor(to, tensor.numpy())
            continue
        rows, cols = tensor.shape
        kind = kinds[count % len(kinds)]
        count += 1
        if kind in BLOCKS_OF_256 and cols % 256 != 0:
            kind = Type.Q8_0
        if kind in (Type.F16, Type.BF16):
            data = gguf.quantize(rng.normal(0, 0.1, (rows, cols)).astype(
                np.float32), kind)
        else:
            data = random_blocks(rng, kind, rows, cols)
        writer.add_tensor(to, data, raw_dtype=kind)
        values = gguf.dequantize(data, kind).reshape(rows, cols)
        if ".q_proj." in name:
            values = swap_back(values, config.num_attention_heads)
        if ".k_proj." in name:
            values = swap_back(values, config.num_key_value_heads)
        tensor.copy_(torch.tensor(values))


def continuation(model, rng, length):
    """A greedy case whose choices are clear."""
    while True:
        source = rng.integers(3, model.config.vocab_size, length).tolist()
        made = model.generate(torch.tensor([source]), max_new_tokens=12,
                              do_sample=False, output_logits=True,
                              return_dict_in_generate=True)
        ids = made.sequences[0, length:].tolist()
        logits = torch.cat(made.logits)
        best = logits.topk(2).values
        margin = (best[:, 0] - best[:, 1]).min().item()
        if margin < 1e-2 or len(set(ids)) < 4:
            continue
        log_probs = logits.log_softmax(-1)[range(len(ids)), ids]
        return {"name": f"greedy {length}", "source": source,
                "params": {"max_new_tokens": 12},
                "choices": [{"ids": ids, "log_probs": [
                    round(value, 6) for value in log_probs.tolist()]}],
                "margin": round(margin, 4)}


def scored(model, rng):
    """What a target of random tokens has."""
    source, target = (rng.integers(3, model.config.vocab_size, count).tolist()
                      for count in (7, 5))
    logits = model(torch.tensor([source + target])).logits[0, len(source) - 1:-1]
    log_probs = logits.log_softmax(-1)[range(len(target)), target]
    return {"source": source, "target": target,
            "log_probs": [round(value, 6) for value in log_probs.tolist()],
            "sum": round(log_probs.sum().item(), 6)}


@torch.no_grad()
def write_quantised(name):
    hidden, head, width, layers, kinds = QUANTISED[name]
    rng = np.random.default_rng(5)
    config = transformers.LlamaConfig(
        vocab_size=67, hidden_size=hidden, num_hidden_layers=layers,
        num_attention_heads=4, num_key_value_heads=2, head_dim=head,
        intermediate_size=width, max_position_embeddings=96, bos_token_id=0,
        pad_token_id=1, eos_token_id=2, tie_word_embeddings=False)
    model = transformers.LlamaForCausalLM._from_config(
        config, attn_implementation="eager").eval().requires_grad_(False)
    writer = gguf.GGUFWriter(HERE / "gguf" / f"{name}.gguf", "llama")
    writer.add_name(name)
    add_sizes(writer, config)
    add_llama_like(writer, config, {"rope_theta": 10000.0, "rope_type": "default"},
                   "llama")
    add_tokenizer(writer)
    quantised(writer, rng, model, kinds)
    close(writer)
    cases = [continuation(model, rng, length) for length in (3, 9, 20)]
    path = HERE / "gguf" / f"{name}.json"
    path.write_text(json.dumps({"transformers": transformers.__version__,
                                "generate": cases, "score": [scored(model, rng)],
                                "continued": continued(model, name)},
                               indent=1) + "\n")


def main():
    wanted = sys.argv[1:] or [*FILES, *QUANTISED, "blocks"]
    (HERE / "gguf").mkdir(exist_ok=True)
    for name in wanted:
        print(name)
        if name == "blocks":
            write_blocks()
        elif name in QUANTISED:
            write_quantised(name)
        else:
            write(name)


if __name__ == "__main__":
    main()
