#!/usr/bin/env python3
"""Writes tests/golden/force_words.json: constrained beam search of transformers
4.55, the last version that has it, with the checkpoint marian/plain.

    python3 -m venv /tmp/force_words
    /tmp/force_words/bin/pip install torch==2.15.0 transformers==4.55.4 \
        sentencepiece==0.2.3 safetensors==0.8.0 numpy==2.4.6
    /tmp/force_words/bin/python tests/golden/make_force_words.py

{"transformers": version, "cases": [{"source": [ids], "params": {...},
"force_words": [[[ids] for each alternative] for each word], "choices":
[{"ids": [new tokens], "score" (but for results that lack
words)}]}]}. Like make_golden.py: fixed seeds, f32, eager
attention. Alternatives of one word do not begin alike: there 4.55 lets copies of
a state share a list. The prompt has none of the words.
"""

import json
import pathlib

import numpy as np
import torch
import transformers
from transformers import MarianMTModel

HERE = pathlib.Path(__file__).resolve().parent


def words_of(rng, vocab):
    """One to three words, of one alternative or several."""
    words = []
    for _ in range(rng.randint(1, 4)):
        firsts = rng.permutation(np.arange(3, vocab - 3))
        words.append([[int(firsts[i])] + [int(x) for x in rng.randint(
            3, vocab - 3, rng.randint(0, 4))] for i in range(rng.randint(1, 4))])
    return words


def case(model, rng, number):
    vocab = model.config.vocab_size
    source = [int(x) for x in rng.randint(2, vocab - 2, rng.randint(3, 10))] + [0]
    beams = int(rng.randint(2, 6))
    params = dict(num_beams=beams, num_return_sequences=int(rng.randint(1, beams + 1)),
                  max_new_tokens=int(rng.choice([3, 9, 20])),
                  length_penalty=float(rng.choice([0.0, 1.0, 1.7])),
                  early_stopping=[False, True, "never"][number % 3])
    if number % 4 == 0:
        params["no_repeat_ngram_size"] = 2
    if number % 5 == 0:
        params["min_new_tokens"] = 2
    words = words_of(rng, vocab)
    forced = [word[0] if len(word) == 1 else word for word in words]
    def generate(scores):
        return model.generate(
            torch.tensor([source]), force_words_ids=forced, do_sample=False,
            attention_mask=torch.ones(1, len(source), dtype=int),
            return_dict_in_generate=True, output_scores=scores, **params)

    try:
        out = generate(True)
        scores = [float(f"{x:.9g}") for x in out.sequences_scores.tolist()]
    except RuntimeError:  # of results that lack words it has no scores
        out, scores = generate(False), None
    choices = []
    for rank, row in enumerate(out.sequences.tolist()):
        ids = row[1:]
        if 0 in ids:
            ids = ids[:ids.index(0) + 1]
        pad = model.config.pad_token_id
        ids = ids[:ids.index(pad)] if pad in ids else ids
        choices.append({"ids": ids, **({"score": scores[rank]} if scores else {})})
    return {"source": source, "params": params, "force_words": words,
            "choices": choices}


def main():
    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = MarianMTModel.from_pretrained(
        HERE / "marian" / "plain", torch_dtype=torch.float32,
        attn_implementation="eager").eval()
    rng = np.random.RandomState(7)
    cases = [case(model, rng, number) for number in range(60)]
    lines = ",\n".join(json.dumps(one) for one in cases)
    path = HERE / "force_words.json"
    path.write_text(f'{{"transformers": "{transformers.__version__}",'
                    f' "cases": [\n{lines}\n]}}\n')
    print(path, path.stat().st_size, "bytes")


main()
