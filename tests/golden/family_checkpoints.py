"""Tiny checkpoints of every family but Marian: configuration and random
weights, in the spellings of transformers 4 and 5. They have no tokenizer."""

import json

import numpy as np
import safetensors.torch
import torch
import transformers

from checkpoints import turn, write_json


def spread(name, shape, config):
    """Mean and deviation of a tensor's random values: everything that a forward
    pass reads moves its result."""
    if "norm" in name.lower() or ".ln_" in name or ".ln." in name:
        return (1.0, 0.2) if name.endswith("weight") else (0.0, 0.2)
    if name.endswith("bias") and len(shape) == 1:
        return 0.0, 0.25
    if "final_logits_bias" in name:
        return 0.0, 0.25
    if "relative_attention_bias" in name:
        return 0.0, 0.9
    if (any(part in name for part in ("embed", "shared", "wte")) or
            name.startswith("lm_head")):
        if "position" in name or "token_type" in name:
            return 0.0, 0.3
        # The last residual holds the token's vector; large, it would repeat.
        scaled = getattr(config, "scale_embedding", False)
        return 0.0, 0.2 if scaled or config.model_type == "t5gemma" else 0.45
    if "router" in name:  # where the last chosen expert counts for little
        return 0.0, 4 / np.sqrt(shape[-1])
    if "classifier" in name or "out_proj" in name and len(shape) == 1:
        return 0.0, 0.5
    sharp = any(part in name for part in (
        "attn.q_proj", "attn.k_proj", "c_attn", "query_key_value",
        "qkv_proj"))
    return 0.0, (1.6 if sharp else 0.9) / np.sqrt(shape[-1])


@torch.no_grad()
def randomise(model, seed):
    rng = np.random.RandomState(seed)
    done = {parameter.data_ptr() for parameter in model.parameters()
            if not parameter.requires_grad}  # sinusoids
    for name, tensor in sorted(model.state_dict().items()):
        if tensor.data_ptr() in done or not tensor.is_floating_point():
            continue
        done.add(tensor.data_ptr())
        mean, deviation = spread(name, tensor.shape, model.config)
        value = mean + deviation * rng.randn(*tensor.shape)
        tensor.copy_(torch.from_numpy(value.astype(np.float32)))
    return rng


class Turned:
    """A T5 layer's feed-forward block in the words of checkpoints.turn()."""

    def __init__(self, block):
        self.fc1, self.fc2 = block.wi, block.wo


def target_table(model):
    kind = model.config.model_type
    if kind == "encoder-decoder":
        return model.decoder.get_input_embeddings()
    if kind in ("fsmt", "t5gemma"):
        return model.model.decoder.embed_tokens
    return model.get_input_embeddings()


@torch.no_grad()
def diversify(model, rng):
    """Lets results have many different tokens, and ends come up."""
    config = model.config
    target_table(model).weight[config.eos_token_id] *= 1.5
    if config.model_type == "encoder-decoder":
        layer = model.decoder.base_model.encoder.layer[-1]
        layer.fc1, layer.fc2 = layer.intermediate.dense, layer.output.dense
        turn(layer, rng)
        del layer.fc1, layer.fc2
        return
    if config.model_type == "t5gemma":
        for name, tensor in model.model.decoder.named_parameters():
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                tensor *= 2
        return
    if not hasattr(model, "model"):
        block = model.decoder.block[-1].layer[-1].DenseReluDense
        if hasattr(block, "wi"):
            turn(Turned(block), rng)
        return
    turn(model.model.decoder.layers[-1], rng)


def seq2seq_class(fixture):
    kind = "Model" if fixture["model"] == "EncoderDecoder" else (
        "ForConditionalGeneration")
    return getattr(transformers, fixture["model"] + kind)


def seq2seq_model(fixture):
    names = fixture["model"]
    config = getattr(transformers, names + "Config")(**fixture["config"])
    if fixture["model"] in ("T5", "MT5", "UMT5"):
        config.decoder_start_token_id = 0
    kind = seq2seq_class(fixture)
    model = kind._from_config(config, attn_implementation="eager").eval()
    if fixture["model"] == "FSMT":
        for stack in (model.model.encoder, model.model.decoder):
            stack.embed_positions.weight.requires_grad = False
    if fixture.get("untied"):
        model.lm_head.weight = torch.nn.Parameter(
            torch.empty_like(model.lm_head.weight))
    diversify(model, randomise(model, fixture["weights"]))
    if fixture.get("base_model"):
        model.final_logits_bias.zero_()
    model.generation_config = transformers.GenerationConfig.from_model_config(config)
    model.generation_config.update(**fixture.get("generation", {}))
    return model


def save(model, folder, fixture):
    """By save_pretrained(), or with "old" as programs of 2020 to 2023 did."""
    if fixture.get("base_model"):
        model.model.save_pretrained(folder)
        model.generation_config.save_pretrained(folder)
        return
    model.save_pretrained(folder)
    if "old" not in fixture:
        return
    (folder / "generation_config.json").unlink(missing_ok=True)
    spell_old(folder / "config.json", fixture)
    state = fixture.get("old_tensors", dict)(model.state_dict())
    if fixture.get("shared_once"):
        state = {name: tensor for name, tensor in state.items()
                 if not name.endswith(("embed_tokens.weight", "lm_head.weight"))}
    safetensors.torch.save_file(
        {name: tensor.clone().contiguous() for name, tensor in state.items()},
        folder / "model.safetensors", metadata={"format": "pt"})


def spell_old(path, fixture):
    config = json.loads(path.read_text())
    config["torch_dtype"] = config.pop("dtype")
    config.update(fixture["old"], transformers_version="4.12.0",
                  _name_or_path="/tmp/tiny")
    for name in fixture.get("absent", []):
        config.pop(name, None)
    write_json(path, dict(sorted(config.items())), indent=2)


def load(folder, kind):
    """The model in f32; nothing may be missing or left over."""
    model, info = kind.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager",
        output_loading_info=True)
    assert not info["missing_keys"], info
    assert not info["mismatched_keys"], info
    return model.eval()
