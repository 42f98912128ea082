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

import regex
from tokenizers import Tokenizer, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from transformers.integrations.gguf import convert_gguf_tokenizer

from tokenizer_lines import BLOCK, HERE, Digest, line

LINES = 2000
TAIL = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+"
        r"|\s+(?!\S)|\s+")
SHORT = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
QWEN2 = (SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         + TAIL)
DEEPSEEK3 = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"
             r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
             + TAIL)
# What llama.cpp's src/llama-vocab.cpp cuts by, where transformers knows of no
# such words: each pattern cuts what the one before it has left.
PATTERNS = {
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+",
                       "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", r"\p{N}"],
    "deepseek-v3": [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
                    DEEPSEEK3],
    "bloom": [" ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"],
    "viking": [" ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+",
               r"\p{N}"],
    "chameleon": ["<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
                  "([\\t\\n]|    |  )", r"\p{N}",
                  r"[\p{P}!-/:-@\[-`{-~]", GPT2],
    "seed-coder": [SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}"
                   r"| ?[^\s\p{L}\p{N}\r\n]+" + TAIL],
    "ufakzeka": [QWEN2[len(SHORT) + 1:]],
    "bailingmoe": [r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])"
                   r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
                   r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"],
    "laguna": [r"[^\n]+|[\n]+", QWEN2],
    "superbpe": [r"\p{N}+", r"(?=(\d{3})+(?!\d))"],
    "minicpm5": [r"\p{N}{1,3}", QWEN2.replace(r"|\p{N}|", r"|\p{N}+|")],
    "qwen35": [SHORT + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
               r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + TAIL],
}
BOS = {"add_bos_token": True}
CASES = [
    *({"name": pre, "directory": "roberta", "architecture": "llama",
       "model": "gpt2", "pre": pre, "merges": True, "keys": {}}
      for pre in ("gpt-2", "llama-bpe", "qwen2", "tekken", "gpt-4o", "smollm")),
    *({"name": "by-" + pre, "directory": "roberta", "architecture": "llama",
       "model": "gpt2", "pre": pre, "merges": True, "keys": {}}
      for pre in PATTERNS),
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


class ByPatterns:
    """Cuts texts by PATTERNS, with another library than tokenizers has."""

    def __init__(self, case):
        path = HERE / case["directory"] / "tokenizer.json"
        saved = json.loads(path.read_text(encoding="utf-8"))
        saved["pre_tokenizer"] = {
            "type": "ByteLevel", "add_prefix_space": False,
            "trim_offsets": True, "use_regex": False}
        saved["post_processor"] = None
        saved["model"]["ignore_merges"] = case["pre"] == "minicpm5"
        self.special = "|".join(regex.escape(token["content"])
                                for token in saved["added_tokens"])
        self.backend = Tokenizer.from_str(json.dumps(saved))
        self.patterns = PATTERNS[case["pre"]]

    @staticmethod
    def parts(pattern, text):
        begin = 0
        for match in regex.finditer(pattern, text):
            yield text[begin:match.start()]
            yield match.group()
            begin = match.end()
        yield text[begin:]

    def __call__(self, text):
        ids = []
        for i, part in enumerate(self.parts(self.special, text)):
            words = [part]
            for pattern in self.patterns if i % 2 == 0 else ():
                words = [new for word in words if word
                         for new in self.parts(pattern, word) if new]
            for word in words:
                ids += self.backend.encode(word, add_special_tokens=False).ids
        return {"input_ids": ids}

    def decode(self, ids, skip_special_tokens):
        return self.backend.decode(ids, skip_special_tokens=skip_special_tokens)


def main():
    for case in CASES:
        made = (ByPatterns if case.get("pre") in PATTERNS else tokenizer)(case)
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
