"""Encoders with an adapter for each task, as jinaai/jina-embeddings-v3 lies on
the hub: names and configuration of the code that its config.json names
(jinaai/xlm-roberta-flash-implementation), and what that code computes."""

import copy
import json
import tempfile

import numpy as np
import safetensors.torch
import torch
from transformers import JinaEmbeddingsV3Config, JinaEmbeddingsV3Model

import sentence_modules
from cases import nine, rows
from checkpoints import write_json

TABLES = ("embeddings.word_embeddings", "embeddings.token_type_embeddings")
MAPS = ("mixer.Wqkv", "mixer.out_proj", "mlp.fc1", "mlp.fc2", "pooler.dense")


def draw(state, fixture):
    """A and B of each map [adapters, rank, in] and [adapters, out, rank], and of
    each table [adapters, entries, rank] and [adapters, rank, width]."""
    rng = np.random.RandomState(fixture["seed"] + 2)
    adapters, rank = len(fixture["adapters"]["tasks"]), fixture["adapters"]["rank"]
    found = {}
    for name in sorted(state):
        module = name.removesuffix(".weight")
        if module == name or not module.endswith(TABLES + MAPS):
            continue
        out, inner = state[name].shape
        first, second = (out, rank), (rank, inner)
        if module.endswith(MAPS):
            first, second = (rank, inner), (out, rank)
        a = rng.randn(adapters, *first) * (0.3 if module in TABLES else inner ** -0.5)
        b = rng.randn(adapters, *second) * 0.6
        found[module] = [torch.from_numpy(x.astype(np.float32)) for x in (a, b)]
    return found


def added(module, pair, adapter, scale):
    a, b = (x[adapter] for x in pair)
    return scale * (a @ b if module in TABLES else b @ a)


@torch.no_grad()
def adapted(model, pairs, adapter, scale):
    """The model with the weights that one adapter changes. `pairs` are named as
    in files, where queries, keys and values are one map."""
    changed = copy.deepcopy(model)
    weights = dict(changed.named_parameters())
    for module, pair in pairs.items():
        change = added(module, pair, adapter, scale)
        name = module.replace("encoder.layers", "layers").replace(
            "mixer.out_proj", "self_attn.o_proj")
        if not name.endswith("mixer.Wqkv"):
            weights[name + ".weight"] += change
            continue
        stem = name.removesuffix("mixer.Wqkv") + "self_attn."
        for part, rows_of_part in zip("qkv", change.chunk(3)):
            weights[f"{stem}{part}_proj.weight"] += rows_of_part
    return changed


def scale_of(fixture):
    return fixture["adapters"]["alpha"] / fixture["adapters"]["rank"]


def cases(model, folder, fixture, run, kept, sources):
    """What each adapter makes of each source. `run` and `kept` are those of
    encoder_cases.py."""
    state = safetensors.torch.load_file(folder / "model.safetensors")
    pairs = draw(state, fixture)
    result = []
    for adapter in range(len(fixture["adapters"]["tasks"])):
        changed = adapted(model, pairs, adapter, scale_of(fixture))
        for i, given in enumerate(sources):
            hidden = kept(given, run(changed, given))
            embedding = sentence_modules.embed(folder, hidden, fixture["sentence"])
            case = {"adapter": adapter, **given,
                    "embedding": [nine(x) for x in embedding]}
            result.append({**case, "hidden": rows(hidden)} if i == 0 else case)
    return result


def spell(folder, fixture):
    """The files as that code writes and reads them."""
    path = folder / "model.safetensors"
    state = safetensors.torch.load_file(path)
    pairs = draw(state, fixture)
    spelled = {}
    for name, tensor in state.items():
        module = name.removesuffix(".weight")
        if module not in pairs:
            spelled["roberta." + name] = tensor
            continue
        stem = f"roberta.{module}.parametrizations.weight."
        spelled[stem + "original"] = tensor
        spelled[stem + "0.lora_A"], spelled[stem + "0.lora_B"] = pairs[module]
    safetensors.torch.save_file(spelled, path, metadata={"format": "pt"})
    spell_config(folder / "config.json", fixture["adapters"])
    modules = json.loads((folder / "modules.json").read_text())
    modules[0].update(type="custom_st.Transformer", kwargs=["task"])
    write_json(folder / "modules.json", modules, indent=2)


def load(folder, fixture):
    """The model without adapters, and `pairs`, of files that spell() wrote."""
    state, pairs = {}, {}
    for name, tensor in safetensors.torch.load_file(folder / "model.safetensors").items():
        module, _, part = name.removeprefix("roberta.").partition(
            ".parametrizations.weight.")
        if part.startswith("0."):
            pairs.setdefault(module, {})[part] = tensor
        else:
            state[module + (".weight" if part else "")] = tensor
    config = JinaEmbeddingsV3Config(**fixture["config"])
    with tempfile.TemporaryDirectory() as unspelled:
        config.save_pretrained(unspelled)
        safetensors.torch.save_file(state, f"{unspelled}/model.safetensors",
                                    metadata={"format": "pt"})
        model = JinaEmbeddingsV3Model.from_pretrained(
            unspelled, dtype=torch.float32, attn_implementation="eager").eval()
    return model, {module: [pair["0.lora_A"], pair["0.lora_B"]]
                   for module, pair in pairs.items()}


@torch.no_grad()
def embed(folder, fixture, tokenizer, texts):
    """What encode() of that code makes of texts: with a task, the instruction
    comes before the text, and the task's adapter is on."""
    model, pairs = load(folder, fixture)
    tokenizer.model_input_names = ["input_ids", "attention_mask"]
    for adapter, (name, prompt) in enumerate(
            [("", ""), *fixture["adapters"]["tasks"].items()], -1):
        changed = model if adapter < 0 else adapted(
            model, pairs, adapter, scale_of(fixture))
        for text in texts:
            hidden = changed(**tokenizer(prompt + text, return_tensors="pt"))[0][0]
            value = sentence_modules.embed(folder, hidden, fixture["sentence"])
            yield {"model": fixture["name"], "text": text, "prompt_name": name,
                   "values": [nine(x) for x in value]}


def spell_config(path, adapters):
    config = json.loads(path.read_text())
    code = "jinaai/xlm-roberta-flash-implementation--"
    config["rotary_emb_base"] = config.pop("rope_parameters")["rope_theta"]
    config["torch_dtype"] = config.pop("dtype")
    config.update(
        architectures=["XLMRobertaModel"], model_type="xlm-roberta", auto_map={
            "AutoConfig": code + "configuration_xlm_roberta.XLMRobertaFlashConfig",
            "AutoModel": code + "modeling_lora.XLMRobertaLoRA"},
        position_embedding_type="rotary", emb_pooler="mean",
        load_trained_adapters=True, lora_main_params_trainable=False,
        lora_adaptations=list(adapters["tasks"]), lora_alpha=adapters["alpha"],
        lora_dropout_p=0.0, lora_rank=adapters["rank"],
        matryoshka_dimensions=[8, config["hidden_size"]],
        task_instructions=adapters["tasks"], truncate_dim=None,
        use_flash_attn=True, use_reentrant=False)
    write_json(path, dict(sorted(config.items())), indent=2)
