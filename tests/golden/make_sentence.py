#!/usr/bin/env python3
"""Writes tests/golden/sentence: tiny directories as sentence-transformers saves
them, and expected.json, what it computes with them.

    /tmp/golden/bin/pip install sentence-transformers==6.2.0  # see make_golden.py
    /tmp/golden/bin/python tests/golden/make_sentence.py

expected.json: {"sentence_transformers": version, "embed": [{"model", "text",
"prompt_name"?, "values"}]}.
"""

import json
import pathlib
import shutil

import numpy as np
import safetensors.numpy
import safetensors.torch
import sentence_transformers
import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules
from sentence_transformers.base.modules import Dense, Normalize, Transformer

import text_tasks
from cases import nine

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE / "sentence"
TEXTS = ["a small dog runs over the green field", "Thé ÄLÄ, a DOGS! [SEP]",
         "she drinks tea in the garden " * 4]


def randomise(module, rng):
    """Every weight, so that none is neutral."""
    for name, value in module.state_dict().items():
        if value.dtype.is_floating_point:
            shape = tuple(value.shape)
            center = 1.0 if name.endswith("norm.weight") or "LayerNorm.weight" in name else 0.0
            scale = 0.2 if len(shape) < 2 else 1.2 / np.sqrt(shape[-1])
            value.copy_(torch.from_numpy(
                (center + scale * rng.randn(*shape)).astype(np.float32)))


def bert(folder, rng, kind="BertModel", **more):
    """A model of transformers with the tokenizer of text/, to be read again."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config = transformers.BertConfig(**{**dict(
        vocab_size=text_tasks.SIZE, hidden_size=15, num_attention_heads=3,
        num_hidden_layers=1, intermediate_size=18, max_position_embeddings=56), **more})
    model = getattr(transformers, kind)(config).eval()
    with torch.no_grad():
        randomise(model, rng)
    model.save_pretrained(folder)
    text_tasks.write_tokenizer(folder)
    return folder


def saved(name, model):
    """Saves the model, without what no program reads, and reads it again."""
    folder = OUT / name
    model.save(str(folder), create_model_card=False)
    return SentenceTransformer(str(folder), device="cpu").eval()


def move_transformer(name):
    """To a folder of its own, as older versions saved it."""
    folder, own = OUT / name, OUT / name / "0_Transformer"
    own.mkdir()
    for file in ["config.json", "model.safetensors", "tokenizer.json",
                 "tokenizer_config.json", "sentence_bert_config.json"]:
        (folder / file).rename(own / file)
    listed = json.loads((folder / "modules.json").read_text())
    listed[0]["path"] = "0_Transformer"
    (folder / "modules.json").write_text(json.dumps(listed, indent=2))


def everything(scratch):
    """All kinds of modules after a transformer in lower case."""
    rng = np.random.RandomState(5)
    bert(scratch, rng)
    tokenizer = json.loads((scratch / "tokenizer.json").read_text())
    tokenizer["normalizer"].update(lowercase=False, strip_accents=True)
    (scratch / "tokenizer.json").write_text(json.dumps(tokenizer))
    transformer = Transformer(str(scratch), max_seq_length=21)
    pooling = modules.Pooling(15, ("weightedmean", "mean_sqrt_len_tokens", "cls",
                                   "max", "mean", "lasttoken"), include_prompt=False)
    rest = [pooling, Normalize(),
            Dense(90, 13, activation_function=torch.nn.Softplus(), use_residual=True),
            modules.LayerNorm(13), modules.Dropout(0.3),
            Dense(13, 11, bias=False, activation_function=torch.nn.Identity()),
            Dense(11, 11, activation_function=torch.nn.Hardswish(), use_residual=True),
            Normalize()]
    with torch.no_grad():
        for module in rest:
            randomise(module, rng)
    model = SentenceTransformer(
        modules=[transformer, *rest], device="cpu", truncate_dim=7,
        prompts={"query": "Query document: ", "document": ""}).eval()
    saved("everything", model)
    move_transformer("everything")
    (OUT / "everything/0_Transformer/sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": 21, "do_lower_case": True}, indent=2))
    return SentenceTransformer(str(OUT / "everything"), device="cpu").eval()


def static(scratch):
    rng = np.random.RandomState(6)
    bert(scratch, rng)
    tokenizer = transformers.AutoTokenizer.from_pretrained(scratch)
    table = modules.StaticEmbedding(
        tokenizer, embedding_weights=rng.randn(text_tasks.SIZE, 9).astype(np.float32))
    return saved("static", SentenceTransformer(modules=[table], device="cpu"))


def model2vec(scratch):
    """As the hub has them: a table in the directory itself, and a Normalize."""
    rng = np.random.RandomState(7)
    folder = OUT / "model2vec"
    folder.mkdir()
    bert(scratch, rng)
    shutil.copy(scratch / "tokenizer.json", folder)
    safetensors.numpy.save_file(
        {"embeddings": rng.randn(text_tasks.SIZE, 11).astype(np.float32)},
        folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(
        {"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": True,
         "hidden_dim": 11, "seq_length": 1000000}, indent=2))
    (folder / "modules.json").write_text(json.dumps([
        {"idx": 0, "name": "0", "path": ".",
         "type": "sentence_transformers.models.StaticEmbedding"},
        {"idx": 1, "name": "1", "path": "1_Normalize",
         "type": "sentence_transformers.models.Normalize"}], indent=2))
    return SentenceTransformer(str(folder), device="cpu").eval()


def embeddings(name, model):
    for prompt in [None, *model.prompts]:
        for text in TEXTS:
            value = model.encode([text], prompt_name=prompt)[0]
            yield {"model": name, "text": text,
                   **({} if prompt is None else {"prompt_name": prompt}),
                   "values": [nine(x) for x in value]}


def main():
    torch.set_num_threads(1)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    scratch = OUT / "scratch"
    value = {"sentence_transformers": sentence_transformers.__version__, "embed": []}
    for make in [everything, static, model2vec]:
        value["embed"] += embeddings(make.__name__, make(scratch))
    shutil.rmtree(scratch)
    (OUT / "expected.json").write_text(json.dumps(value, ensure_ascii=False) + "\n")
    for file in sorted(OUT.rglob("*.*")):
        print(f"{file.relative_to(HERE)}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
