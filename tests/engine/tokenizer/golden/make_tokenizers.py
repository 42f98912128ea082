#!/usr/bin/env python3
"""Writes tiny tokenizers, and what transformers makes with them of 20,000 lines.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install transformers==5.23.0 tokenizers==0.23.3 \
        sentencepiece==0.2.3 protobuf==7.36.2
    /tmp/golden/bin/python tests/engine/tokenizer/golden/make_tokenizers.py
    ... make_tokenizers.py --show bert 1234    # one line of one tokenizer

Each NAME/ is a directory as a checkpoint has it; its expected.json:

  {"lines": [digest of ids, types, origins for each BLOCK lines],
   "pairs": [the same of line i with line i + 1, cut to 8 + i % 30 tokens,
             for every 5th line],
   "texts": [digest of the decoded ids of the lines],
   "cases": [{"text", "pair"?, "language"?, "side"?, "max_tokens"?,
              "add_special"?, "ids", "types", "origins": [[text, begin, end]],
              "decoded"}],
   "ids_only"?: true where Python has no types and no origins to compare,
   "forced_bos"?: {code of a target language: id that generation begins with}}

Lines come from fragments.json by a generator that the test has, too. Origins are
in bytes; text -1 is a special token put in. A digest is 64-bit FNV-1a over
integers, each line's followed by -1, in hexadecimal.
"""

import json
import sys

from transformers import AutoTokenizer, logging

from library_tokenizers import TOKENIZERS
from sentencepiece_tokenizers import SPM
from tokenizer_lines import HERE, case, digests, encode, line

# Of those that have languages, some.
LANGUAGES = {"nllb": ("deu_Latn", "zul_Latn"),
             "spm-mbart": ("ar_AR", "en_XX", "zh_CN"),
             "spm-mbart-50": ("ar_AR", "fr_XX", "sl_SI"),
             "m2m-100": ("af", "ast", "en", "zu"),
             "m2m-100-unigram": ("en", "de")}

ODD = ["", " ", "the cat", " a  b\tc\n", "don't , it 's . \" x \"", "\0a\x01b",
       "🐕‍🦺👩‍👩‍👧 e\u0301a\u0308", "שלום عالم नमस्ते 你好世界",
       "<s>a</s> <mask>[MASK] b", "ﬁ ½ \u00a0\u3000x", "x" * 300]


def cases(name, tokenizer):
    result = [case(tokenizer, text) for text in ODD]
    result += [case(tokenizer, text, add_special=False) for text in ODD[2:5]]
    result.append(case(tokenizer, "the cat", "the dog"))
    result.append(case(tokenizer, "", ""))
    for limit in (2, 3, 4, 5, 7):
        result.append(case(tokenizer, "the cat sits", max_tokens=limit))
        if limit > 4:
            result.append(case(tokenizer, "the cat sits here", "a dog",
                               max_tokens=limit))
    for language in LANGUAGES.get(name, ()):
        result.append(case(tokenizer, "the cat", language=language))
        result.append(case(tokenizer, "the cat", "a dog", language=language))
        result.append(case(tokenizer, "the cat", language=language,
                           side="target"))
    return result


def forced_bos(name, tokenizer):
    return {code: tokenizer._build_translation_inputs(
        "the cat", src_lang=code, tgt_lang=code,
        **({} if name.startswith("m2m") else {"return_tensors": None})
    )["forced_bos_token_id"] for code in LANGUAGES.get(name, ())}


def write_json(path, value, **options):
    path.write_text(json.dumps(value, ensure_ascii=False, **options) + "\n",
                    encoding="utf-8")


def write_library(name):
    folder = HERE / name
    tokenizer, config = TOKENIZERS[name]()
    top = json.loads(tokenizer.to_str())
    if top["model"]["type"] == "Unigram":
        # Reading longer numbers, classes of transformers round correctly and
        # the library itself does not always; ties then fall differently.
        top["model"]["vocab"] = [[piece, round(score, 6)]
                                 for piece, score in top["model"]["vocab"]]
    write_json(folder / "tokenizer.json", top, separators=(",", ":"))
    write_json(folder / "tokenizer_config.json", config, indent=1)


def write_spm(name):
    for file, contents in SPM[name]().items():
        if isinstance(contents, bytes):
            (HERE / name / file).write_bytes(contents)
        else:
            write_json(HERE / name / file, contents, indent=0)


def write(name):
    (HERE / name).mkdir(exist_ok=True)
    (write_spm if name in SPM else write_library)(name)
    loaded = AutoTokenizer.from_pretrained(HERE / name)
    expected = {**digests(loaded), "cases": cases(name, loaded),
                "ids_only": not loaded.is_fast,
                "forced_bos": forced_bos(name, loaded)}
    write_json(HERE / name / "expected.json",
               {k: v for k, v in expected.items() if v}, indent=0)
    print(HERE / name)


def main():
    logging.set_verbosity_error()
    if sys.argv[1:2] == ["--show"]:
        name, number = sys.argv[2], int(sys.argv[3])
        tokenizer = AutoTokenizer.from_pretrained(HERE / name)
        print(repr(line(number)))
        print(*encode(tokenizer, line(number)), sep="\n")
        return
    for name in sys.argv[1:] or [*TOKENIZERS, *SPM]:
        write(name)


if __name__ == "__main__":
    main()
