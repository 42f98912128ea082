#!/usr/bin/env python3
"""Writes gguf.json: what transformers makes of 2,000 lines with the tokenizers
that GGUF files describe (see make_tokenizers.py for what to install).

The vocabularies are those of directories here, as a GGUF file would have them:

  [{"name", "directory": whose vocabulary it is, "architecture", "model", "pre"?,
    "merges": whether the file has them, "keys": other keys of the file,
    "renamed"?: {id: the control token that it is instead},
    "lines": [digest of the ids of each 100 lines], "texts": [of the decoded]}]

transformers knows of no "smollm": its words are made by hand, as the
tokenizer.json of SmolLM2 has them.
"""

import json

from tokenizers import pre_tokenizers
from transformers import PreTrainedTokenizerFast
from transformers.integrations.gguf import convert_gguf_tokenizer

from tokenizer_lines import BLOCK, HERE, Digest, line

LINES = 2000
BOS = {"add_bos_token": True}
CASES = [
    *({"name": pre, "directory": "roberta", "architecture": "llama",
       "model": "gpt2", "pre": pre, "merges": True, "keys": {}}
      for pre in ("gpt-2", "llama-bpe", "qwen2", "tekken", "gpt-4o", "smollm")),
    {"name": "eos", "directory": "roberta", "architecture": "llama",
     "model": "gpt2", "pre": "gpt-2", "merges": True,
     "keys": {"add_bos_token": True, "add_eos_token": True}},
    {"name": "llama", "directory": "byte-fallback", "architecture": "llama",
     "model": "llama", "merges": True, "keys": BOS},
    {"name": "llama-scores", "directory": "byte-fallback",
     "architecture": "llama", "model": "llama", "merges": False, "keys": BOS},
    {"name": "phi3", "directory": "byte-fallback", "architecture": "phi3",
     "model": "llama", "merges": False, "keys": BOS},
    {"name": "gemma3", "directory": "byte-fallback", "architecture": "gemma3",
     "model": "llama", "merges": False, "keys": BOS,
     # Gemma has these tokens, and so has transformers' class.
     "renamed": {"1": "<bos>", "2": "<eos>", "698": "<pad>", "699": "<mask>"}},
]


def vocabulary(case):
    """The tokenizer's keys of a GGUF file."""
    saved = json.loads((HERE / case["directory"] / "tokenizer.json").read_text(
        encoding="utf-8"))
    ids = saved["model"]["vocab"]
    tokens = sorted(ids, key=ids.get)
    special = {token["content"] for token in saved["added_tokens"]}
    types = [3 if token in special else 6 if token.startswith("<0x") else 1
             for token in tokens]
    for token_id, token in case.get("renamed", {}).items():
        tokens[int(token_id)], types[int(token_id)] = token, 3
    found = {"tokenizer_type": case["model"], "tokens": tokens,
             "token_type": types, "bos_token_id": ids["<s>"],
             "eos_token_id": ids["</s>"], "unk_token_id": ids["<unk>"]}
    if "pre" in case:
        found["pre_tokenizer_type"] = case["pre"]
    if case["merges"]:
        found["merges"] = [" ".join(pair) for pair in saved["model"]["merges"]]
    else:
        found["scores"] = [float(-token_id) for token_id in range(len(tokens))]
    return found


def tokenizer(case):
    backend, _ = convert_gguf_tokenizer(case["architecture"], vocabulary(case))
    if case.get("pre") == "smollm":
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True),
             pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    if case.get("pre") in ("llama-bpe", "tekken"):
        # llama.cpp and these models' own files say so.
        saved = json.loads(backend.to_str())
        saved["model"]["ignore_merges"] = True
        backend = type(backend).from_str(json.dumps(saved))
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token=case.get("renamed", {}).get("1", "<s>"),
        eos_token=case.get("renamed", {}).get("2", "</s>"),
        unk_token="<unk>", add_bos_token=case["keys"].get("add_bos_token", False),
        add_eos_token=case["keys"].get("add_eos_token", False))


def main():
    for case in CASES:
        made = tokenizer(case)
        print(case["name"], made("a 12 b")["input_ids"])
        ids_of, texts_of = Digest(), Digest()
        case.update(lines=[], texts=[])
        for i in range(LINES):
            ids = made(line(i))["input_ids"]
            ids_of.add([*ids, -1])
            text = made.decode(ids, skip_special_tokens=True)
            texts_of.add([*text.encode("utf-8"), -1])
            if i % BLOCK == BLOCK - 1:
                case["lines"].append(ids_of.take())
                case["texts"].append(texts_of.take())
    (HERE / "gguf.json").write_text(json.dumps(CASES, indent=1) + "\n")


if __name__ == "__main__":
    main()
