#!/usr/bin/env python3
"""Writes classes.json: what the tokenizer classes of transformers make of files
that say otherwise (see make_tokenizers.py for what to install).

    make_classes.py
    make_classes.py --show NAME    # the first text of one case, token by token

  [{"name", "base": the directory whose tokenizer.json it is, or whose
    SentencePiece model ("spm-..."), "patch": JSON merge
    patch of it, "files": {name: contents} beside it, "ids": of TEXTS[0],
    "lines": digest of ids, types, origins and the decoded text of TEXTS and
    lines, "pairs": the same of pairs of them}]

Cases that transformers refuses are left out.
"""

import inspect
import json
import pathlib
import shutil
import sys
import tempfile

from transformers import AutoTokenizer, logging
from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

from tokenizer_lines import HERE, Digest, encode, flat, line

BASES = ("bert", "byte-fallback", "nllb", "roberta", "t5", "xlm-roberta")
CLASSES = (
    "Albert Barthez Bart Bert BigBird Blenderbot Camembert CLIP CodeGen "
    "CodeLlama Cohere ConvBert Deberta DebertaV2 DistilBert "
    "DPRQuestionEncoder Electra FNet Funnel GPT2 GPTNeoX Gemma Herbert LED "
    "LayoutLM Llama Longformer Luke MBart MLuke MPNet Nllb Nougat "
    "OpenAIGPT Pegasus Qwen2 Qwen3_5 Reformer RemBert Roberta Siglip2 Splinter "
    "T5 Tipsv2 VideoPrism XGLM XLMRoberta XLNet").split()
TEXTS = ["Hello the  cat, <mask> \u00c9\u4f60 don't 1234</s> x",
         "", " ", "  a ", "<s>a</s> [MASK] b<pad>", "``q'' \ufb01 e\u0301\n\nx\t",
         "a<x>b <x> cat cats", "\u2581a\u2581 <unk>\u00a0[SEP] a", "THE Cat"]
LINES = 12
FLAGS = ("do_lower_case", "tokenize_chinese_chars", "strip_accents",
         "add_prefix_space", "keep_accents", "split_by_punct", "trim_offsets",
         "legacy", "clean_text")


def opposite(name):
    """Settings that are the opposite of the class's defaults."""
    config = {}
    made = tokenizer_class_from_name(name)
    for flag in FLAGS:
        parameter = inspect.signature(made.__init__).parameters.get(flag)
        if name in ("ConvBertTokenizer", "DistilBertTokenizer",
                    "ElectraTokenizer", "FNetTokenizer",
                    "DPRQuestionEncoderTokenizer"):
            parent = made if name == "FNetTokenizer" else made.__mro__[1]
            parameter = inspect.signature(
                (parent.__mro__[1] if name == "FNetTokenizer" else parent)
                .__init__).parameters.get(flag) or parameter
        if parameter is not None:
            config[flag] = not parameter.default
    return {**config, "add_bos_token": True, "add_eos_token": True}


def token(content, **options):
    return {"content": content, "lstrip": False, "rstrip": False,
            "normalized": False, "single_word": False, "special": True,
            **options}


def nulls(name):
    """The flags of the class, set to null."""
    return dict.fromkeys(opposite(name))


def configs(name):
    named = {"tokenizer_class": name}
    yield "own", {}, {"tokenizer_config.json": {
        **named, **nulls(name), "eos_token": "</s>", "cls_token": {
            **token("</s>", rstrip=True), "__type": "AddedToken"},
        "image_token": "<x>", "extra_special_tokens": {
            "z_token": "cat", "a_token": "the"}, "max_len": 100}}
    yield "plain", {}, {"tokenizer_config.json": named}
    yield "flags", {}, {"tokenizer_config.json": {**named, **opposite(name)}}
    yield "added", {"post_processor": None}, {"tokenizer_config.json": {
        **named, "bos_token": "<s>", "eos_token": "</s>", "mask_token": "<mask>",
        "pad_token": None, "unk_token": "<unk>", "truncation_side": "left",
        "extra_special_tokens": ["<x>", "</s>"], "clean_up_tokenization_spaces":
        True, "added_tokens_decoder": {
            "1": token("</s>", special=False), "2": token("<s>", rstrip=True),
            "5000": token("cat", special=False, single_word=True,
                          normalized=True)}}}
    yield "maps", {"normalizer": {"type": "Lowercase"}}, {
        "tokenizer_config.json": {**named, "eos_token": "<unk>",
                                  "sep_token": "[SEP]"},
        "special_tokens_map.json": {
            "eos_token": "</s>", "additional_special_tokens": ["<x>"],
            "mask_token": {"content": "<mask>", "lstrip": True,
                           "normalized": True, "rstrip": False,
                           "single_word": False}},
        "added_tokens.json": {"<x>": 7000, "the": 7001}}


PREPEND = {"normalizer": {"type": "Sequence", "normalizers": [
    {"type": "Prepend", "prepend": "\u2581"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
    "pre_tokenizer": None}


def chosen():
    """Cases of files that name one class and models that have another."""
    for model, name, base in (
            ("llama", "LlamaTokenizer", "roberta"),
            ("llama", "LlamaTokenizerFast", "byte-fallback"),
            ("llama", None, "byte-fallback"),
            ("mistral", "LlamaTokenizer", "byte-fallback"),
            ("mixtral", "LlamaTokenizer", "byte-fallback"),
            ("phi3", "LlamaTokenizer", "byte-fallback"),
            ("gemma2", "GemmaTokenizer", "byte-fallback"),
            ("gemma2", None, "byte-fallback"),
            ("gemma2", "LlamaTokenizer", "byte-fallback"),
            ("qwen2", "GPT2Tokenizer", "roberta"),
            ("qwen3", "Qwen2Tokenizer", "roberta"),
            ("qwen3", "PreTrainedTokenizerFast", "roberta"),
            ("bert", None, "bert"), ("bert", "RobertaTokenizer", "roberta"),
            ("bert", "PreTrainedTokenizerFast", "bert"),
            ("distilbert", "DistilBertTokenizer", "bert"),
            ("modernbert", "BertTokenizer", "bert"),
            ("nomic_bert", "BertTokenizer", "bert"),
            ("roberta", None, "roberta"), ("bart", "BartTokenizer", "roberta"),
            ("gpt_neox", "GPTNeoXTokenizer", "roberta"),
            ("bloom", "BloomTokenizerFast", "roberta"),
            ("gpt2", "NoSuchTokenizer", "roberta"),
            ("stablelm", "GPT2Tokenizer", "roberta"),
            ("xlm-roberta", None, "xlm-roberta"), ("t5", None, "t5"),
            ("umt5", "T5Tokenizer", "t5"), ("opt", "GPT2Tokenizer", "roberta")):
        patch = PREPEND if base == "byte-fallback" else {}
        files = {"config.json": {"model_type": model},
                 "tokenizer_config.json":
                 {"tokenizer_class": name} if name else {}}
        yield f"{model}-{name}", base, patch, files
    for name, base, role in (
            ("Bert", "bert", "cls_token"), ("DistilBert", "bert", "sep_token"),
            ("MPNet", "bert", "cls_token"), ("CodeLlama", "byte-fallback",
                                             "bos_token"),
            ("DebertaV2", "xlm-roberta", "cls_token"),
            ("Pegasus", "t5", "eos_token")):
        yield f"{name}-no-{role}", base, {}, {"tokenizer_config.json": {
            "tokenizer_class": name + "Tokenizer", role: None}}
    yield "model-name", "roberta", {}, {
        "config.json": {"model_type": "bart", "model_name": "camembertv2-base"},
        "tokenizer_config.json": {"tokenizer_class": "GPTNeoXTokenizer"}}
    yield "config-names-it", "bert", {}, {
        "config.json": {"model_type": "llama",
                        "tokenizer_class": "BertTokenizer"}}


def mbart50():
    """With a language in its vocabulary, and without one: the class adds them
    all then."""
    for kind, patch, files in configs("MBart50Tokenizer"):
        if kind == "plain":
            yield "MBart50-languages", "xlm-roberta", patch, files
    top = json.loads((HERE / "xlm-roberta/tokenizer.json").read_text("utf-8"))
    top["model"]["vocab"].append(["en_XX", 0.0])
    for kind, patch, files in configs("MBart50Tokenizer"):
        if kind in ("plain", "added"):
            yield f"MBart50-{kind}", "xlm-roberta", {
                **patch, "model": top["model"]}, files


SENTENCE_PIECE = {
    "spm-t5": "T5", "spm-xlm-roberta": "XLMRoberta", "spm-mbart": "MBart",
    "spm-mbart-50": "MBart50", "spm-pegasus": "Pegasus"}


def sentence_piece():
    """Directories with a SentencePiece model instead of a tokenizer.json."""
    for base, name in SENTENCE_PIECE.items():
        for kind, settings in (
                ("flags", {"add_prefix_space": False, "legacy_behaviour": True,
                           "clean_up_tokenization_spaces": True}),
                ("extra", {"extra_special_tokens": ["<x>", "the"]}),
                ("added", {"mask_token": "<mask>", "added_tokens_decoder": {
                    "5": token("</s>", rstrip=True),
                    "900": token("cat", special=False, single_word=True)}})):
            yield f"{base}-{kind}", base, {}, {"tokenizer_config.json": {
                "tokenizer_class": name + "Tokenizer", **settings}}


def cases():
    for name in CLASSES:
        for base in BASES:
            for kind, patch, files in configs(name + "Tokenizer"):
                if kind == "own" and base in ("nllb", "t5"):
                    continue  # as byte-fallback and xlm-roberta
                if name in ("Luke", "MLuke") and kind == "added":
                    continue  # Python cuts pairs itself
                yield f"{name}-{base}-{kind}", base, patch, {
                    "config.json": {"model_type": "llama"}, **files}
    yield from sentence_piece()
    yield from mbart50()
    yield from chosen()


def load(base, patch, files):
    with tempfile.TemporaryDirectory() as folder:
        if base in SENTENCE_PIECE:
            for model in (HERE / base).glob("*.model"):
                shutil.copy(model, folder)
        else:
            top = json.loads((HERE / base / "tokenizer.json").read_text("utf-8"))
            files = {**files, "tokenizer.json": {**top, **patch}}
        for file, contents in files.items():
            pathlib.Path(folder, file).write_text(json.dumps(contents))
        return AutoTokenizer.from_pretrained(folder)


def expected(tokenizer):
    language = getattr(tokenizer, "_src_lang", None)
    if language and language not in tokenizer.get_vocab():
        raise ValueError("no token of the language")  # unknown for Python
    of_lines, of_pairs = Digest(), Digest()
    texts = TEXTS + [line(i) for i in range(LINES)]
    for i, text in enumerate(texts):
        encoded = encode(tokenizer, text)
        of_lines.add(flat(encoded))
        decoded = tokenizer.decode(encoded[0], skip_special_tokens=True)
        of_lines.add([*decoded.encode("utf-8"), -1])
        of_pairs.add(flat(encode(
            tokenizer, text, texts[i - 1], truncation="longest_first",
            max_length=12)))
    return {"ids": encode(tokenizer, TEXTS[0])[0], "lines": of_lines.take(),
            "pairs": of_pairs.take()}


def main():
    logging.set_verbosity_error()
    if sys.argv[1:2] == ["--show"]:
        for name, *case in cases():
            if name != sys.argv[2]:
                continue
            tokenizer = load(*case)
            print(type(tokenizer).__name__)
            for text in TEXTS:
                print(repr(text), *zip(*encode(tokenizer, text)))
                print("   ", encode(tokenizer, text, "a"))
            top = json.loads(tokenizer.backend_tokenizer.to_str())
            top["model"].pop("vocab"), top["model"].pop("merges", None)
            print(json.dumps(top))
        return
    rows, refused = [], []
    for name, base, patch, files in cases():
        try:
            found = expected(load(base, patch, files))
        except Exception as error:  # of any kind: what it refuses is no case
            refused.append(f"{name}: {type(error).__name__}: {error}"[:150])
            continue
        rows.append({"name": name, "base": base, "patch": patch, "files": files,
                     **found})
    text = ",\n".join(json.dumps(row) for row in rows)
    (HERE / "classes.json").write_text(f"[\n{text}\n]\n")
    print(*refused, sep="\n")
    print(len(rows), "cases,", len(refused), "refused")


if __name__ == "__main__":
    main()
