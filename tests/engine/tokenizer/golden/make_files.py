#!/usr/bin/env python3
"""Writes files.json: what AutoTokenizer of transformers builds in directories
without a tokenizer.json (see make_tokenizers.py for what to install; without
the package mistral_common, which would read some files in another way).

    make_files.py
    make_files.py --train          # the vocabularies of files/, too
    make_files.py --show NAME      # the texts of one case, token by token

  [{"name", "copy"?: {file: from here}, "make"?: {"words" or "merges": the
    directory whose tokenizer.json has the vocabulary}, "files": {name: contents}
    beside them, "ids", "lines", "pairs": as in classes.json; for tokenizers of
    Python without "pairs", and the lines' ids and texts alone}]

Cases that transformers refuses are left out.
"""

import base64
import json
import pathlib
import shutil
import sys
import tempfile

sys.modules["mistral_common"] = None

from transformers import AutoTokenizer, logging
from transformers.convert_slow_tokenizer import bytes_to_unicode

from make_classes import TEXTS, configs, expected, opposite, token
from sentencepiece_tokenizers import train_spm
from tokenizer_lines import HERE, encode

WORDS = ("Bert ConvBert DistilBert DPRQuestionEncoder Electra Funnel LayoutLM "
         "MPNet Splinter").split()
MERGES = ("Bart Blenderbot CLIP CodeGen Cohere Deberta GPT2 GPTNeoX Herbert LED "
          "Longformer Nougat OpenAIGPT Qwen2 Roberta").split()
# Of a word, as Mistral's files have it.
PATTERN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*"
           r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}"
           r"\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}|"
           r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
GOOGLE, FAIRSEQ = "spiece.model", "sentencepiece.bpe.model"
# Of each class: the file that it reads, and models.
PIECES = {
    "Albert": (GOOGLE, "files/albert"),
    "BigBird": (GOOGLE, "spm-t5"), "FNet": (GOOGLE, "spm-t5"),
    "XLNet": (GOOGLE, "spm-xlm-roberta", "spm-t5"),
    "Reformer": (GOOGLE, "files/bpe"),
    "Barthez": (FAIRSEQ, "spm-xlm-roberta"),
    "Camembert": (FAIRSEQ, "spm-xlm-roberta", "spm-mbart"),
    "DebertaV2": ("spm.model", "spm-xlm-roberta", "files/deberta"),
    "RemBert": ("sentencepiece.model", "files/albert"),
    "CodeLlama": ("tokenizer.model", "files/bpe"),
    "Gemma": ("tokenizer.model", "files/bpe", "files/gemma"),
    "Llama": ("tokenizer.model", "files/bpe", "m2m-100"),
    "Siglip2": ("tokenizer.model", "files/gemma"),
    "Tipsv2": ("tokenizer.model", "files/bpe"),
    "PreTrained": ("tokenizer.model", "files/bpe", "m2m-100", "spm-t5",
                   "m2m-100-unigram"),
    "T5": ("tokenizer.model", "spm-t5"),
}


def train():
    """Small models with bytes, as those of Llama, Gemma and DeBERTa."""
    for name, options in {
            "bpe": {"user_defined_symbols": ["cat", "<x>"]},
            "gemma": {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3,
                      "bos_piece": "<bos>", "eos_piece": "<eos>",
                      "user_defined_symbols": ["<mask>", "\n", "\n\n", "\t"],
                      "add_dummy_prefix": False,
                      "remove_extra_whitespaces": False}}.items():
        write(name + "/tokenizer.model", train_spm(model_type="bpe", byte_fallback=True,
                              vocab_size=700, **options))
    write("deberta/tokenizer.model", train_spm(
        pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]",
        bos_piece="[CLS]", eos_piece="[SEP]", unk_piece="[UNK]"))
    write("albert/tokenizer.model", train_spm(
        pad_id=0, unk_id=1, bos_id=2, eos_id=3, bos_piece="[CLS]",
        eos_piece="[SEP]", control_symbols=["[MASK]"],
        user_defined_symbols=["(", ")", "-"]))
    ranks()
    write("esm/vocab.txt", "\n".join(
        "<cls> <pad> <eos> <unk> L A G V S E R T I D P K Q N F Y M H W C X B U Z "
        "O . - <null_1> <mask>".split()).encode())


def ranks():
    """The byte strings of a vocabulary as tiktoken and Mistral write them."""
    characters = {c: b for b, c in bytes_to_unicode().items()}
    top = json.loads((HERE / "roberta/tokenizer.json").read_text("utf-8"))
    vocab = top["model"]["vocab"]
    tokens = [base64.b64encode(bytes(characters[c] for c in text)).decode()
              for text in sorted(vocab, key=vocab.get)
              if not text.startswith("<") and all(c in characters for c in text)]
    single = {base64.b64encode(bytes([b])).decode() for b in range(256)}
    tokens = sorted(single) + [token for token in tokens if token not in single]
    write("ranks/tokenizer.model", "".join(
        f"{token} {rank}\n" for rank, token in enumerate(tokens)).encode())
    write("ranks/tekken.json", json.dumps({
        "config": {"pattern": PATTERN, "num_vocab_tokens": len(tokens),
                   "default_vocab_size": len(tokens), "version": "v7",
                   "default_num_special_tokens": 20},
        "vocab": [{"rank": rank, "token_bytes": token, "token_str": None}
                  for rank, token in enumerate(tokens)],
        "special_tokens": [
            {"rank": rank, "token_str": text, "is_control": True}
            for rank, text in enumerate(("<unk>", "<s>", "</s>", "[INST]"))]},
        separators=(",", ":")).encode())


def write(name, contents):
    path = HERE / "files" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents)


def of_class(name):
    """Settings of a class, and the same without any file that names it."""
    for kind, _, files in configs(name + "Tokenizer"):
        yield kind, {"config.json": {"model_type": "llama"}, **files}


def real():
    """Settings of directories as they lie on a hub."""
    end = {**token("</s>", normalized=True), "__type": "AddedToken"}
    opt = {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True,
           "errors": "replace", "bos_token": end, "eos_token": end,
           "unk_token": end, "pad_token": "<pad>"}
    merges, words = {"merges": "roberta"}, {"words": "bert"}
    yield "opt", {"make": merges}, {
        "config.json": {"model_type": "opt"}, "tokenizer_config.json": opt,
        "special_tokens_map.json": {
            "bos_token": token("</s>", normalized=True), "pad_token": "<pad>"}}
    for model in ("gpt2", "roberta", "bart", "qwen2", "gpt_neox", "deberta",
                  "blenderbot", "codegen", "starcoder2", "longformer", "led"):
        yield f"{model}-config", {"make": merges}, {
            "config.json": {"model_type": model}}
    for model in ("bert", "distilbert", "electra", "mpnet", "nomic_bert",
                  "funnel", "layoutlm"):
        yield f"{model}-config", {"make": words}, {
            "config.json": {"model_type": model}}
    yield "codet5", {"make": merges}, {
        "config.json": {"model_type": "t5"},
        "tokenizer_config.json": {"tokenizer_class": "RobertaTokenizer",
                                  "model_max_length": 512},
        "added_tokens.json": {"<extra_id_0>": 5001, "<extra_id_1>": 5000}}
    yield "bert-cased", {"make": words}, {
        "config.json": {"model_type": "bert"},
        "tokenizer_config.json": {
            "do_lower_case": False, "never_split": ["the"],
            "tokenize_chinese_chars": True, "do_basic_tokenize": True}}
    for model, named in (("llama", "LlamaTokenizer"), ("gemma", None),
                         ("mistral", "LlamaTokenizer"),
                         ("mixtral", None), ("phi3", "LlamaTokenizer"),
                         ("stablelm", "NoSuchTokenizer"),
                         ("internlm2", "InternLM2Tokenizer")):
        yield f"{model}-pieces", {
            "copy": {"tokenizer.model": "files/bpe/tokenizer.model"}}, {
            "config.json": {"model_type": model}, "tokenizer_config.json": {
                "add_bos_token": True, "add_eos_token": False,
                **({"tokenizer_class": named} if named else {}),
                **({"legacy": True} if model == "llama" else {})}}
    yield "mistral-added", {
        "copy": {"tokenizer.model": "files/bpe/tokenizer.model"}}, {
        "config.json": {"model_type": "mistral"}, "tokenizer_config.json": {
            "tokenizer_class": "LlamaTokenizer", "added_tokens_decoder": {
                "1": token("<s>"), "0": token("<unk>"),
                "900": token("[MASK]")}}}


def of_ranks():
    for file in ("tokenizer.model", "tiktoken.model", "tekken.json"):
        copy = {"copy": {file: "files/ranks/" + (
            file if file == "tekken.json" else "tokenizer.model")}}
        for kind, settings in (
                ("plain", {}),
                ("named", {"bos_token": "<s>", "eos_token": "</s>",
                           "add_bos_token": True, "add_eos_token": False}),
                ("extra", {"extra_special_tokens": ["<x>", "the"]}),
                ("added", {"bos_token": "<|begin_of_text|>",
                           "added_tokens_decoder": {
                               "702": token("<|begin_of_text|>"),
                               "705": token("</s>", rstrip=True),
                               "3": token("[INST]")}})):
            for name in ("PreTrainedTokenizerFast", "LlamaTokenizer"):
                if name == "LlamaTokenizer" and file == "tekken.json":
                    continue
                yield f"{name}-{file}-{kind}", copy, {
                    "config.json": {"model_type": "llama"},
                    "tokenizer_config.json": {"tokenizer_class": name,
                                              **settings}}


def of_python():
    esm = {"copy": {"vocab.txt": "files/esm/vocab.txt"}}
    for kind, settings in (
            ("plain", {}), ("lengths", {"model_max_length": 1000}),
            ("named", {"unk_token": "<unk>", "mask_token": "<mask>",
                       "additional_special_tokens": ["<null_1>"]})):
        yield f"esm-{kind}", esm, {
            "config.json": {"model_type": "esm"}, "tokenizer_config.json": {
                "tokenizer_class": "EsmTokenizer", **settings}}
    for kind, settings in (
            ("plain", {}), ("few", {"extra_ids": 3}),
            ("named", {"extra_ids": 2, "eos_token": {
                **token("</s>"), "__type": "AddedToken"},
                "additional_special_tokens": ["<extra_id_0>", "<extra_id_1>"]})):
        yield f"byt5-{kind}", {}, {
            "config.json": {"model_type": "t5",
                            "tokenizer_class": "ByT5Tokenizer"},
            "tokenizer_config.json": settings}


def model_of(folder):
    return next(path for path in (HERE / folder).glob("*.model"))


def cases():
    for name in WORDS:
        for kind, files in of_class(name):
            yield f"{name}-words-{kind}", {"make": {"words": "bert"}}, files
    for name in MERGES:
        for kind, files in of_class(name):
            yield f"{name}-merges-{kind}", {"make": {"merges": "roberta"}}, files
    for name, (file, *folders) in PIECES.items():
        for folder in folders:
            copy = {file: str(model_of(folder).relative_to(HERE))}
            for kind, files in of_class(name):
                if "added" in kind and folder != folders[0]:
                    continue
                yield f"{name}-{folder}-{kind}", {"copy": copy}, files
    yield from of_ranks()
    yield from of_python()
    yield from real()


def make(folder, source):
    for kind, base in source.get("make", {}).items():
        top = json.loads((HERE / base / "tokenizer.json").read_text("utf-8"))
        vocab = top["model"]["vocab"]
        if kind == "words":
            lines = sorted(vocab, key=vocab.get)
            pathlib.Path(folder, "vocab.txt").write_text(
                "".join(f"{line}\n" for line in lines), "utf-8")
            continue
        pathlib.Path(folder, "vocab.json").write_text(json.dumps(vocab))
        pathlib.Path(folder, "merges.txt").write_text(
            "#version: 0.2\n" + "".join(
                f"{merge if isinstance(merge, str) else ' '.join(merge)}\n"
                for merge in top["model"]["merges"]), "utf-8")
    for file, path in source.get("copy", {}).items():
        shutil.copy(HERE / path, pathlib.Path(folder, file))


def load(source, files):
    with tempfile.TemporaryDirectory() as folder:
        make(folder, source)
        for file, contents in files.items():
            pathlib.Path(folder, file).write_text(json.dumps(contents))
        return AutoTokenizer.from_pretrained(folder)


def show(name):
    for case, *source in cases():
        if case != name:
            continue
        tokenizer = load(*source)
        print(type(tokenizer).__name__)
        for text in TEXTS:
            print(repr(text), *zip(*encode(tokenizer, text)))
            print("   ", encode(tokenizer, text, "a"))
        top = json.loads(tokenizer.backend_tokenizer.to_str())
        top["model"].pop("vocab"), top["model"].pop("merges", None)
        print(json.dumps(top))


def main():
    logging.set_verbosity_error()
    if sys.argv[1:2] == ["--show"]:
        return show(sys.argv[2])
    if "--train" in sys.argv:
        train()
    rows, refused = [], []
    for name, source, files in cases():
        try:
            tokenizer = load(source, files)
            found = expected(tokenizer)
            if not tokenizer.is_fast:
                del found["pairs"]  # of Python, with no types and no origins
        except Exception as error:  # of any kind: what it refuses is no case
            refused.append(f"{name}: {type(error).__name__}: {error}"[:150])
            continue
        rows.append({"name": name, **source, "files": files, **found})
    text = ",\n".join(json.dumps(row) for row in rows)
    (HERE / "files.json").write_text(f"[\n{text}\n]\n")
    print(*refused, sep="\n")
    print(len(rows), "cases,", len(refused), "refused")


if __name__ == "__main__":
    main()
