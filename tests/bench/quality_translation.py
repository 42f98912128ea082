#!/usr/bin/env python3
"""Translations of 8 bits against those of f32: Attend and CTranslate2.

    /tmp/bench/bin/python tests/bench/quality_translation.py

The bundled model translates the 200 sentences of tests/golden/en-de, whose ids
by transformers in f32 are there, greedy and with 4 beams. For Attend in each
dtype and CTranslate2 in f32 and int8 the table has how many sentences have the
same ids, and BLEU of the tokens with those of transformers as the reference.
CTranslate2 ends beams in another way, so that it differs in f32, too.
"""

import argparse
import json
import os
import pathlib
import tempfile

import sacrebleu

from harness import attend_processes
from peers import translators

MODEL = attend_processes.ROOT / "models/en-de"
EXPECTED = attend_processes.ROOT / "tests/golden/en-de/expected.json"
SEARCHES = {"greedy": 1, "beam4": 4}  # beams
DTYPES = ("f32", "bf16", "int8", "w8", "int4")
PEER_TYPES = ("float32", "int8")
EOS = 0


def tokens(ids):
    """Without the end of the text, which CTranslate2 does not give."""
    return [id_ for id_ in ids if id_ != EOS]


def row(name, runner, sentences):
    cells = []
    for search, beams in SEARCHES.items():
        answer = runner.run({
            "sources": [sentence["ids"] for sentence in sentences],
            "in_flight": len(sentences), "beams": beams, "length_penalty": 1,
            "max_new_tokens": 128, "outputs": True})
        found = list(map(tokens, answer["outputs"]))
        expected = [tokens(sentence[search]["ids"]) for sentence in sentences]
        same = sum(map(list.__eq__, found, expected))
        # Numbers between spaces are what BLEU counts.
        texts = [[" ".join(map(str, ids)) for ids in lists]
                 for lists in (found, expected)]
        bleu = sacrebleu.corpus_bleu(texts[0], [texts[1]], tokenize="none",
                                     force=True)
        cells.append(f"{same:>6} {bleu.score:>6.2f}")
    print(f"{name:<20} {'  '.join(cells)}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    args = parser.parse_args()
    sentences = json.loads(EXPECTED.read_text(encoding="utf-8"))["sentences"]
    print(f"{len(sentences)} sentences; greedy: same, BLEU; 4 beams: same, BLEU")
    for dtype in DTYPES:
        engine = attend_processes.Engine(
            args.build, MODEL, [*attend_processes.dtype_flags(dtype),
                                *args.flag])
        try:
            row(f"Attend {dtype}", engine, sentences)
        except RuntimeError as error:
            if "which needs" not in str(error):  # the CPU's instructions
                raise
            print(f"Attend {dtype}: {error}", flush=True)
        engine.close()
    with tempfile.TemporaryDirectory() as scratch:
        converted = pathlib.Path(scratch, "converted")
        translators.convert(MODEL, converted)
        for compute_type in PEER_TYPES:
            other = translators.CTranslate2(
                converted, compute_type, (1, os.cpu_count(), 0, None))
            row(f"CTranslate2 {compute_type}", other, sentences)
            other.close()


if __name__ == "__main__":
    main()
