#!/usr/bin/env python3
"""BLEU and chrF of a running server.

Translates a source file, one sentence a line, through gRPC and compares the
result with a reference file (sacrebleu's defaults, raw text):

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install grpcio==1.85.1 grpcio-tools==1.85.1 sacrebleu==2.6.0
    build/release/server/attend-server --model models/en-de --port 50051 &
    /tmp/bench/bin/python tests/bench/quality_bleu.py --source flickr2016.en \\
        --reference flickr2016.de --beams 4

Prints one line of text, or JSON with --json. --output keeps the translations.
--expect-bleu makes it a check: exit code 1 if BLEU is further than 0.1 away.
"""

import argparse
import json
import pathlib
import sys
import time

import sacrebleu

from harness import attend_client


def lines(path):
    return pathlib.Path(path).read_text(encoding="utf-8").rstrip("\n").split("\n")


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", default="localhost:50051")
    parser.add_argument("--source", required=True)
    parser.add_argument("--reference", required=True)
    parser.add_argument("--beams", type=int, default=1, help="1: greedy")
    parser.add_argument("--max-new-tokens", type=int, default=128)
    parser.add_argument("--concurrency", type=int, default=32,
                        help="requests in flight")
    parser.add_argument("--output", help="file for the translations")
    parser.add_argument("--expect-bleu", type=float)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    args = options()
    source, reference = lines(args.source), lines(args.reference)
    if len(source) != len(reference):
        sys.exit(f"{len(source)} source lines, {len(reference)} reference lines")
    start = time.perf_counter()
    choices = attend_client.translate(
        args.address, source,
        attend_client.params(args.beams, args.max_new_tokens), args.concurrency)
    seconds = time.perf_counter() - start
    output = [choice.text for choice in choices]
    if args.output:
        pathlib.Path(args.output).write_text("\n".join(output) + "\n",
                                             encoding="utf-8")
    bleu = sacrebleu.corpus_bleu(output, [reference]).score
    chrf = sacrebleu.corpus_chrf(output, [reference]).score
    tokens = sum(len(choice.ids) for choice in choices)
    if args.json:
        print(json.dumps({"sentences": len(source), "beams": args.beams,
                          "bleu": round(bleu, 2), "chrf": round(chrf, 2),
                          "tokens": tokens, "seconds": round(seconds, 2)}))
    else:
        print(f"{len(source)} sentences, beams {args.beams}: BLEU {bleu:.2f}, "
              f"chrF {chrf:.2f}; {tokens} tokens in {seconds:.1f} s, "
              f"{tokens / seconds:.0f} tokens/s")
    if args.expect_bleu is not None and abs(bleu - args.expect_bleu) > 0.1:
        sys.exit(f"BLEU {bleu:.2f}, expected {args.expect_bleu:.2f} +- 0.1")


if __name__ == "__main__":
    main()
