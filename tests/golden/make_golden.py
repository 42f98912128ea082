#!/usr/bin/env python3
"""Writes the golden data of the tests: tiny checkpoints of every family and what
transformers computes with them, and what it computes with models/en-de.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.15.0 transformers==5.23.0 \
        sentencepiece==0.2.3 safetensors==0.8.0 numpy==2.4.6 \
        sentence-transformers==6.2.0
    /tmp/golden/bin/python tests/golden/make_golden.py            # everything
    /tmp/golden/bin/python tests/golden/make_golden.py plain families text  # some

Everything follows from fixed seeds and is computed in f32 on the CPU with eager
attention, one sequence at a time. The script prints each file that it writes.
Tests read the committed files and never run this script.

A fixture is tests/golden/marian/NAME/ (with a tokenizer) or
tests/golden/families/NAME/ (of the other families, without): a checkpoint directory, and expected.json
(all but flax-only), where every part may be absent:

  {"transformers": "5.23.0",
   "encoder": [{"source": [ids], "types": [token types]?, "mask": [0|1]?,
                "positions": [of those with mask 1, where not their indices]?,
                "rows": [which, of those with mask 1]?,
                "hidden": [[d_model] for each position with mask 1, in order]}],
   "logits": [{"source": [ids], "mask"?, "positions"?, "target": [decoder
               inputs, the decoder start first], "rows": [which of target]?,
               "logits": [[vocab] for each of target]}],
   "score": [{"source", "mask"?, "target": [ids], "log_probs": [each], "sum",
              "alignment": [[source tokens that count] for each of target]?}],
   "generate": [{"name", "source", "mask"?,
                 "params": {names and values as given to generate(); what is
                            not here comes from the checkpoint},
                 "choices": [{"ids": [new tokens, end of sequence included],
                              "score": (num_beams > 1),
                              "log_probs": [raw log-softmax of each]?}],
                 "margin": smallest gap that decided}],
   "text": [{"text", "side": "source"|"target", "ids", "pieces", "decoded",
             "decoded_special"}],
   "embed": [{"source", "types"?, "mask"?, "cls"?, "mean", "max", "lasttoken":
              the rows pooled so, "embedding": by the modules of the directory?}],
   "adapted": [{"adapter": its number, "source", "mask"?, "embedding", "hidden"?:
                with the adapter of a task}],
   "labels": [names], "classify": [{"source", "types"?, "mask"?, "activation":
              "softmax"|"sigmoid"|"none", "logits", "terms": the length of all
              that the last layer adds up, "scores"}],
   "classify_tokens": [{"source", "types"?, "mask"?, "rows"?,
                        "logits": [[labels] for each], "scores"}],
                      (of spans: [[begin, end] for each], "terms": the least
                      length of all that the last layer adds up for one)
   "fill_mask": [{"source", "types"?, "mask"?, "at": [indices of source],
                  "ids": [[the likeliest] for each], "log_probs", "logits":
                  [[vocab] for the first position]}]}

* `decoder_input_ids` holds the decoder start, then the forced prefix; both are
  not in the choices' ids.
* "margin" is, for greedy, the smallest difference of the best two processed
  scores of a step; under beam search the smallest gap of any comparison that
  matters: the last candidate that goes on and the first that does not, the
  ranks that may finish, the finished pool's last place, the stopping rule and
  the order of the results. No case here has one below 1e-4.
* "text": `ids` is what the tokenizer gives (end of sequence included), `pieces`
  its tokens; "decoded" skips special tokens (and <unk> is one), the other
  keeps them. decode() knows target ids only: with separate vocabularies these
  two say nothing of a source text.

sampling.json: {"logits": [vocab], "cases": [{"params", "probs": {id: p}}]}:
the distribution that is drawn from, zero where an id is absent.

text/ holds a tokenizer of 61 tokens, for the encoders under families/, and
expected.json: lists of what transformers makes of text with them, by task; each
has "model" and "text". Pipelines give {"classify": [{"pair"?, "labels", "scores":
best first}], "classify_tokens": [{"tokens": [{"id", "begin", "end": in bytes,
"label", "score": of the best}]}], "fill_mask": [{"masks": [{"ids", "probs": best
first}]}], "spans": [{"aggregation", "ignored", "spans": [{"label", "score", "begin",
"end": in bytes}]}], "zero_shot": [{"candidates", "template", "multi_label",
"labels", "scores": best first}]}; the others are {"choose": [{"candidates",
"labels", "raw", "scores": best first}], "answer": [{"question", "context",
"options": as the pipeline of 4.57 takes them, "answers": [{"score", "text",
"begin", "end": in bytes}]}], "rerank": [{"query", "documents", "order", "raw",
"scores": both in that order}], "embed": [{"prompt_name", "values": as the
modules of the directory make them}], "embed_tokens": [{"ids", "values": [[of
each]], "mean"}]}.

en-de/expected.json: {"sentences": [{"text", "ids", "pieces", "decoded",
"decoded_special", "greedy": {"ids", "text", "margin"}, "beam4": {"ids", "text",
"score", "margin"}}], "low_margin": {"greedy": [indices], "beam4": [indices]}},
one for each line of en-de/sentences.en, for max_new_tokens 128, length_penalty
1, early_stopping false. Sentences in "low_margin" have a margin under 1e-4: the
next float of any sum may change their ids.

checkpoints.py writes the directories of Marian, cases.py calls transformers,
fixture_cases.py says which cases a fixture has; families.py does both for the
other families, whose tables are seq2seq_fixtures.py and encoder_fixtures.py;
task_adapters.py has the adapters of encoders; text_tasks.py writes text/.

What MarianTokenizer (5.23) does:
* sacremoses is not needed: the tokenizer makes a punctuation normaliser from it
  if it is there, and never calls it. Text reaches SentencePiece as it is.
* Special tokens written in the text (</s>, <unk>, <pad>) are cut out first and
  become their ids; then each segment between them is encoded on its own. A
  segment that starts with ">>" and has a "<<" later gives that prefix as one
  token, whatever it is: an unknown one becomes <unk>.
* A piece that is not in vocab.json becomes <unk>. One </s> is appended.
* decode() uses source.spm where the vocabulary is joint, target.spm where it is
  separate; runs between special tokens are decoded by themselves, a special token
  is followed by a space, and the end result is stripped.
"""

import pathlib
import shutil
import sys

import numpy as np
import torch
import transformers
from transformers import MarianTokenizer

import checkpoints
import families
import text_tasks
from cases import Case, beams, greedy, text_case
from fixture_cases import MIN_MARGIN, expected, write_expected
from sampling_cases import write_sampling

HERE = pathlib.Path(__file__).resolve().parent
EN_DE = HERE.parent.parent / "models" / "en-de"

ODD_TEXTS = ["", " ", "a  dog   runs", "a dog</s>runs <pad> home", "<unk> x",
             "the Kätze é 狗 🐕", "a\tdog\nruns", "  the cat ", "tea▁time"]

# "weights" are seeds with which some greedy results end at several lengths, and
# others do not end and have many different tokens.
FIXTURES = [
    dict(name="plain", seed=100, weights=151, pieces=90, full=True,
         texts=ODD_TEXTS, config=dict(decoder_layers=3)),
    dict(name="relu", seed=200, weights=247, pieces=73, config=dict(
        d_model=28, encoder_layers=3, decoder_layers=1, encoder_ffn_dim=20,
        encoder_attention_heads=4, decoder_attention_heads=2,
        activation_function="relu", scale_embedding=False)),
    dict(name="gelu", seed=300, weights=336, pieces=80, config=dict(
        d_model=32, encoder_layers=1, decoder_layers=2, decoder_ffn_dim=52,
        activation_function="gelu", decoder_attention_heads=4)),
    dict(name="renormalize-logits", seed=400, weights=402, pieces=80,
         generation=dict(renormalize_logits=True, no_repeat_ngram_size=2)),
    dict(name="forced-eos", seed=500, weights=503, pieces=80,
         generation=dict(forced_eos_token_id=0)),
    dict(name="logits-bias", seed=600, weights=600, pieces=80, logits_bias=1.5),
    dict(name="language-tokens", seed=700, weights=712, pieces=80,
         languages=[">>deu<<", ">>fra<<", ">>zlm_Latn<<"],
         texts=[">>deu<< a small dog", ">>fra<<the cat", ">>zlm_Latn<<  he",
                ">>xyz<< the cat", " >>deu<< the cat", "the >>deu<< cat",
                ">> the cat", "a</s>>>deu<< dog", ">>deu<<", ">>a dog<< runs",
                ">>deu<<>>fra<< tea"]),
    dict(name="separate-vocabularies", seed=800, weights=801, pieces=(70, 84),
         separate=True, texts=ODD_TEXTS),
    dict(name="f16", seed=900, weights=904, pieces=80, dtype="float16"),
    dict(name="bf16", seed=1000, weights=1002, pieces=80, dtype="bfloat16"),
    dict(name="sharded", seed=1100, weights=1103, pieces=80, shard="30KB"),
    dict(name="config-4x", seed=1200, weights=1200, pieces=80, old_style=True),
    dict(name="bin-only", seed=1300, weights=1300, pieces=80, bin_only=True),
    # Cannot be loaded.
    dict(name="flax-only", seed=1300, weights=1300, pieces=80, flax_only=True),
]


def write_en_de(folder):
    model, tokenizer = checkpoints.load(EN_DE), MarianTokenizer.from_pretrained(EN_DE)
    lines = (folder / "sentences.en").read_bytes().decode().split("\n")[:-1]
    sentences, low = [], {"greedy": [], "beam4": []}
    for index, line in enumerate(lines):
        entry = text_case(tokenizer, line)
        entry.pop("side")
        for name, params in (("greedy", greedy(128)), ("beam4", beams(4, 128, 1))):
            case = Case(model, entry["ids"], params)
            choice = case.choices[0]
            entry[name] = {**choice, "text": tokenizer.decode(
                choice["ids"], skip_special_tokens=True),
                "margin": float(f"{case.margin:.3g}")}
            if case.margin < MIN_MARGIN:
                low[name].append(index)
        sentences.append(entry)
    write_expected(folder / "expected.json",
                   {"transformers": transformers.__version__,
                    "low_margin": low, "sentences": sentences})


def main():
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    names = sys.argv[1:]
    for fixture in FIXTURES:
        if names and fixture["name"] not in names:
            continue
        folder = HERE / "marian" / fixture["name"]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        checkpoints.build(folder, fixture)
        if not fixture.get("flax_only"):
            expected(folder, fixture, np.random.RandomState(fixture["seed"]))
        report(folder)
    for fixture in families.FIXTURES:
        if names and fixture["name"] not in names and "families" not in names:
            continue
        folder = HERE / "families" / fixture["name"]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        families.build(folder, fixture)
        report(folder)
    if not names or "text" in names:
        folder = HERE / "text"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        text_tasks.write(folder, HERE / "families")
        report(folder)
    if not names or "sampling" in names:
        write_sampling(HERE / "sampling.json")
        report(HERE / "sampling.json")
    if not names or "en-de" in names:
        write_en_de(HERE / "en-de")
        report(HERE / "en-de")


def report(path):
    for file in sorted(path.rglob("*.*")) if path.is_dir() else [path]:
        print(f"{file.relative_to(HERE)}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
