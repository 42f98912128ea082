#!/usr/bin/env python3
"""Writes tests/golden/sentence: tiny directories as sentence-transformers saves
them, and expected.json, what it computes with them.

    /tmp/golden/bin/pip install sentence-transformers==6.2.0  # see make_golden.py
    /tmp/golden/bin/python tests/golden/make_sentence.py

expected.json: {"sentence_transformers": version, "embed": [{"model", "text",
"prompt_name"?, "role"?, "values"}], "sparse": [{"model", "text", "role"?, "ids",
"weights"}], "multi_vector": [{"model", "text", "role", "count", "values": all
vectors in one list}], "max_sim": [{"model", "query", "documents", "scores"}],
"all": [{"model", "text", "values", "ids", "weights", "count", "vectors"}]: the
three kinds together}.
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
from sentence_transformers import MultiVectorEncoder, SentenceTransformer, SparseEncoder
from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
from sentence_transformers.sentence_transformer import modules
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sparse_encoder.modules import SpladePooling

import sentence_routers
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


def splade(scratch, name="splade", **pooling):
    rng = np.random.RandomState(8)
    bert(scratch, rng, "BertForMaskedLM")
    path = scratch / "model.safetensors"
    weights = safetensors.torch.load_file(path)
    weights["cls.predictions.bias"] -= 2.5  # most weights are 0
    safetensors.torch.save_file(weights, path, metadata={"format": "pt"})
    model = SparseEncoder(modules=[
        Transformer(str(scratch), transformer_task="fill-mask"),
        SpladePooling(**pooling)], device="cpu")
    model.save(str(OUT / name), create_model_card=False)
    return SparseEncoder(str(OUT / name), device="cpu").eval()


def splade_sum(scratch):
    return splade(scratch, "splade_sum", pooling_strategy="sum",
                  activation_function="log1p_relu")


def token_projection(rng, width, out):
    dense = Dense(width, out, bias=False, activation_function=torch.nn.Identity(),
                  module_input_name="token_embeddings")
    with torch.no_grad():
        randomise(dense, rng)
    return dense


def colbert(scratch):
    """Queries are filled up; "!" and "," of documents are left out."""
    rng = np.random.RandomState(9)
    bert(scratch, rng)
    transformer = Transformer(
        str(scratch), document_length=19,
        query_expansion={"strategy": "fixed", "attend": False, "length": 13})
    model = MultiVectorEncoder(modules=[
        transformer, token_projection(rng, 15, 7),
        MultiVectorMask(skiplist_words=["!", ",", "absent"]),
        Normalize(module_input_name="token_embeddings")], device="cpu",
        prompts={"query": "query ", "document": "document "})
    model.save(str(OUT / "colbert"), create_model_card=False)
    return MultiVectorEncoder(str(OUT / "colbert"), device="cpu").eval()


def pylate(scratch):
    """As PyLate 1 saved them: two modules, the rest in one file; expansion tokens
    are attended to, and the marks before texts are tokens."""
    rng = np.random.RandomState(10)
    bert(scratch, rng)
    tokenizer = transformers.AutoTokenizer.from_pretrained(scratch)
    tokenizer.add_tokens(["[Q] ", "[D] "])
    model = transformers.AutoModel.from_pretrained(scratch)
    model.resize_token_embeddings(len(tokenizer))
    with torch.no_grad():
        randomise(model, rng)
    folder = OUT / "pylate"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    token_projection(rng, 15, 9).save(str(folder))
    dense = folder / "1_Dense"
    dense.mkdir()
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    safetensors.torch.save_file(
        {"linear.weight": weights["linear.weight"]}, dense / "model.safetensors")
    model.save_pretrained(folder)
    (dense / "config.json").write_text(json.dumps(
        {"in_features": 15, "out_features": 9, "bias": False,
         "activation_function": "torch.nn.modules.linear.Identity"}, indent=2))
    (folder / "modules.json").write_text(json.dumps([
        {"idx": 0, "name": "0", "path": "",
         "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Dense",
         "type": "pylate.models.Dense.Dense"}], indent=2))
    (folder / "sentence_bert_config.json").write_text(json.dumps(
        {"max_seq_length": 30, "do_lower_case": False}, indent=2))
    (folder / "config_sentence_transformers.json").write_text(json.dumps(
        {"__version__": {"sentence_transformers": "4.0.2"}, "prompts": {},
         "default_prompt_name": None, "similarity_fn_name": "MaxSim",
         "query_prefix": "[Q] ", "document_prefix": "[D] ", "query_length": 11,
         "document_length": 17, "attend_to_expansion_tokens": True,
         "skiplist_words": ["!"], "model_type": "ColBERT"}, indent=2))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    return MultiVectorEncoder(str(folder), device="cpu").eval()


def stanford(scratch):
    """As ColBERTv2 was saved: its projection is among the encoder's tensors."""
    rng = np.random.RandomState(12)
    bert(scratch, rng)
    tokenizer = transformers.AutoTokenizer.from_pretrained(scratch)
    tokenizer.add_tokens(["[unused0]", "[unused1]"])
    model = transformers.AutoModel.from_pretrained(scratch)
    model.resize_token_embeddings(len(tokenizer))
    with torch.no_grad():
        randomise(model, rng)
    folder = OUT / "stanford"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    weights = {f"bert.{name}": value for name, value in
               safetensors.torch.load_file(folder / "model.safetensors").items()}
    weights["linear.weight"] = torch.from_numpy(
        (rng.randn(7, 15) / 4).astype(np.float32))
    safetensors.torch.save_file(weights, folder / "model.safetensors",
                                metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config["architectures"] = ["HF_ColBERT"]
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    (folder / "artifact.metadata").write_text(json.dumps(
        {"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_token": "[Q]",
         "doc_token": "[D]", "attend_to_mask_tokens": False, "dim": 7, "doc_maxlen": 22,
         "mask_punctuation": True, "query_maxlen": 12, "similarity": "cosine"}, indent=2))
    return MultiVectorEncoder(str(folder), device="cpu").eval()


def bge_m3(scratch):
    """The files of BGE-M3; see bge_m3_cases()."""
    rng = np.random.RandomState(11)
    folder = OUT / "bge_m3"
    folder.mkdir()
    bert(scratch, rng)
    transformer = Transformer(str(scratch), max_seq_length=40)
    model = SentenceTransformer(modules=[
        transformer, modules.Pooling(15, "cls"), Normalize()], device="cpu")
    model.save(str(folder), create_model_card=False)
    for name, out in [("sparse_linear", 1), ("colbert_linear", 15)]:
        linear = torch.nn.Linear(15, out)
        with torch.no_grad():
            randomise(linear, rng)
            linear.bias += 0.7 if out == 1 else 0
        torch.save(linear.state_dict(), folder / f"{name}.pt")
    return SentenceTransformer(str(folder), device="cpu").eval()


@torch.no_grad()
def bge_m3_cases(model):
    """What BGEM3FlagModel of FlagEmbedding computes: all three in one pass."""
    tokenizer, folder = model.tokenizer, OUT / "bge_m3"
    layers = {}
    for name, out in [("sparse_linear", 1), ("colbert_linear", 15)]:
        layers[name] = torch.nn.Linear(15, out)
        layers[name].load_state_dict(torch.load(folder / f"{name}.pt", weights_only=True))
    unused = {tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id,
              tokenizer.unk_token_id}
    for text in TEXTS:
        given = tokenizer([text], return_tensors="pt", truncation=True, max_length=40)
        hidden = model[0].auto_model(**given).last_hidden_state[0]
        weights = {}
        for token, weight in zip(given["input_ids"][0].tolist(),
                                 torch.relu(layers["sparse_linear"](hidden))[:, 0].tolist()):
            if token not in unused and weight > weights.get(token, 0):
                weights[token] = weight
        vectors = torch.nn.functional.normalize(layers["colbert_linear"](hidden[1:]), dim=-1)
        dense = torch.nn.functional.normalize(hidden[0], dim=-1)
        yield {"model": "bge_m3", "text": text, "values": [nine(x) for x in dense],
               "ids": sorted(weights), "weights": [nine(weights[i]) for i in sorted(weights)],
               "count": len(vectors), "vectors": [nine(x) for x in vectors.flatten()]}


def sparse(name, model):
    for text in TEXTS:
        value = model.encode([text], convert_to_tensor=True)[0].coalesce()
        order = value.indices()[0]
        yield {"model": name, "text": text, "ids": order.tolist(),
               "weights": [nine(x) for x in value.values()]}


def multi_vectors(name, model):
    for task, encode in [("query", model.encode_query), ("document", model.encode_document)]:
        for text in TEXTS[:2] if task == "query" else TEXTS:
            value = encode([text])[0]
            yield {"model": name, "text": text, "role": task,
                   "count": len(value), "values": [nine(x) for x in value.flatten()]}


def max_sim(name, model):
    query, documents = TEXTS[0], ["the dog runs home", "tea", TEXTS[2], "Thé garden!"]
    scores = model.similarity(model.encode_query([query]), model.encode_document(documents))[0]
    yield {"model": name, "query": query, "documents": documents,
           "scores": [nine(x) for x in scores]}


def embeddings(name, model):
    # Without a file of its own the library makes up prompts, which are empty.
    named = (OUT / name / "config_sentence_transformers.json").exists()
    for prompt in [None, *(model.prompts if named else [])]:
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
    value = {"sentence_transformers": sentence_transformers.__version__,
             "embed": [], "sparse": [], "multi_vector": [], "max_sim": []}
    for make in [everything, static, model2vec]:
        value["embed"] += embeddings(make.__name__, make(scratch))
    for make in [splade, splade_sum]:
        value["sparse"] += sparse(make.__name__, make(scratch))
    for make in [colbert, pylate, stanford]:
        model = make(scratch)
        value["multi_vector"] += multi_vectors(make.__name__, model)
        value["max_sim"] += max_sim(make.__name__, model)
    value["all"] = list(bge_m3_cases(bge_m3(scratch)))
    sentence_routers.add(OUT, scratch, bert, randomise, TEXTS, value)
    shutil.rmtree(scratch)
    (OUT / "expected.json").write_text(json.dumps(value, ensure_ascii=False) + "\n")
    for file in sorted(OUT.rglob("*.*")):
        print(f"{file.relative_to(HERE)}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
