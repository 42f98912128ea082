"""The files of sentence-transformers beside a model, and what they compute."""

import numpy as np
import safetensors.torch
import torch

from checkpoints import write_json

POOLINGS = ("cls", "mean", "max", "lasttoken")
FLAGS = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens",
         "mean_sqrt_len": "mean_sqrt_len_tokens",
         "weightedmean": "weightedmean_tokens", "lasttoken": "lasttoken"}


def write(folder, hidden, sentence, rng):
    """modules.json and a directory for each module."""
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
    if "dense" in sentence:
        kinds.append((f"{len(kinds)}_Dense", "Dense"))
        write_dense(folder / kinds[-1][0], hidden, sentence["dense"], rng)
    if sentence.get("normalize"):
        kinds.append((f"{len(kinds)}_Normalize", "Normalize"))
    write_json(folder / "modules.json", [
        {"idx": i, "name": str(i), "path": path,
         "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds)], indent=2)
    (folder / "1_Pooling").mkdir()
    write_json(folder / "1_Pooling" / "config.json", {
        "word_embedding_dimension": hidden, **{
            f"pooling_mode_{flag}": mode == sentence["pooling"]
            for mode, flag in FLAGS.items()}, "include_prompt": True}, indent=2)
    write_json(folder / "sentence_bert_config.json",
               {"max_seq_length": 56, "do_lower_case": False}, indent=2)
    write_json(folder / "config_sentence_transformers.json", {
        "__version__": {"sentence_transformers": "4.1.0", "transformers":
                        "4.52.4", "pytorch": "2.7.0"},
        "prompts": sentence.get("prompts", {}), "default_prompt_name": None,
        "similarity_fn_name": "cosine"}, indent=2)


def write_dense(folder, hidden, out, rng):
    folder.mkdir()
    write_json(folder / "config.json", {
        "in_features": hidden, "out_features": out, "bias": True,
        "activation_function": "torch.nn.modules.activation.Tanh"}, indent=2)
    weights = {"linear.weight": rng.randn(out, hidden) / np.sqrt(hidden),
               "linear.bias": 0.3 * rng.randn(out)}
    safetensors.torch.save_file(
        {name: torch.from_numpy(value.astype(np.float32))
         for name, value in weights.items()}, folder / "model.safetensors")


RERANK_TEMPLATE = (
    "[CLS] document {{ (messages | selectattr('role', 'eq', 'document') | first)"
    ".content }} query {{ (messages | selectattr('role', 'eq', 'query') | first)"
    ".content }} [SEP]")


def write_logit_score(folder, tokens):
    """modules.json of a CrossEncoder that generates, and its template."""
    (folder / "chat_template.jinja").write_text(RERANK_TEMPLATE)
    write_json(folder / "modules.json", [
        {"idx": 0, "name": "0", "path": "",
         "type": "sentence_transformers.base.modules.transformer.Transformer"},
        {"idx": 1, "name": "1", "path": "1_LogitScore", "type":
         "sentence_transformers.cross_encoder.modules.logit_score.LogitScore"}],
        indent=2)
    logits = {"method": "forward", "method_output_name": "logits"}
    write_json(folder / "sentence_bert_config.json", {
        "transformer_task": "text-generation",
        "modality_config": {"text": logits, "message": {**logits, "format": "flat"}},
        "module_output_name": "causal_logits"}, indent=2)
    write_json(folder / "config_sentence_transformers.json", {
        "__version__": {"pytorch": "2.9.0", "sentence_transformers": "6.2.0",
                        "transformers": "5.23.0"},
        "activation_fn": "torch.nn.modules.activation.Sigmoid",
        "default_prompt_name": None, "model_type": "CrossEncoder",
        "prompts": {}}, indent=2)
    (folder / "1_LogitScore").mkdir()
    write_json(folder / "1_LogitScore" / "config.json", {
        **tokens, "module_input_name": "causal_logits"}, indent=2)


def pool(hidden, mode):
    """`hidden` are the rows that the mask keeps."""
    return {"cls": lambda: hidden[0], "mean": lambda: hidden.mean(0),
            "max": lambda: hidden.max(0)[0], "lasttoken": lambda: hidden[-1]}[mode]()


def embed(folder, hidden, sentence):
    """What encode() of sentence-transformers returns."""
    value = pool(hidden, sentence["pooling"])
    for path in folder.glob("*_Dense/model.safetensors"):
        dense = safetensors.torch.load_file(path)
        value = torch.tanh(dense["linear.weight"] @ value + dense["linear.bias"])
    if sentence.get("normalize"):
        value = torch.nn.functional.normalize(value, dim=0)
    return value
