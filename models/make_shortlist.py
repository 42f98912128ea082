#!/usr/bin/env python3
"""Makes a lexical shortlist for `attend-server --shortlist` of sentence pairs.

Two files have the tokens of the sentences, spaces between: line i of one is the
translation of line i of the other. Without translations at hand, take those of
the model itself. With a server of the model running:

    attend translate < train.en > train.de
    attend tokenize --pieces --no-special-tokens < train.en > en.pieces
    attend tokenize --pieces --no-special-tokens --side target \\
        < train.de > de.pieces
    python3 models/make_shortlist.py en.pieces de.pieces > lex.s2t

Writes the lines of Marian's lex.s2t, target, source and probability: those of
IBM model 1 (Brown et al. 1993), with a source token NULL for what has no source.
50,000 pairs of 15 tokens take some minutes. Needs nothing but Python.
"""

import argparse
import collections
import re
import sys

NULL = "NULL"


def read(path):
    # Spaces and tabs alone separate tokens, which may be other white space.
    with open(path, encoding="utf-8", newline="\n") as file:
        return [[token for token in re.split("[ \t]", line.rstrip("\r\n"))
                 if token] for line in file]


def pairs_of(sources, targets, longest):
    if len(sources) != len(targets):
        sys.exit(f"{len(sources)} source lines, {len(targets)} target lines")
    pairs = [([NULL, *source], target) for source, target in
             zip(sources, targets)
             if source and target and max(len(source), len(target)) <= longest]
    if not pairs:
        sys.exit("no pair of lines has tokens in both files")
    return pairs


def start(pairs):
    """The same probability for all targets that stand beside a source."""
    beside = collections.defaultdict(set)
    for source, target in pairs:
        for token in set(source):
            beside[token].update(target)
    return {source: dict.fromkeys(targets, 1 / len(targets))
            for source, targets in beside.items()}


def improve(pairs, table):
    """One step of expectation maximisation."""
    counts = {source: collections.defaultdict(float) for source in table}
    for source, target in pairs:
        rows = [(table[token], counts[token]) for token in source]
        for token in target:
            shares = [row[token] for row, _ in rows]
            total = sum(shares)
            for (_, count), share in zip(rows, shares):
                count[token] += share / total
    result = {}
    for source, row in counts.items():
        total = sum(row.values())
        # A product of rounded zeros would leave a target without any source.
        result[source] = {target: max(count / total, 1e-12)
                          for target, count in row.items()}
    return result


def write(table, best, least, file):
    for source, row in sorted(table.items()):
        ranked = sorted(row.items(), key=lambda entry: (-entry[1], entry[0]))
        for target, probability in ranked[:best]:
            if source != NULL and probability >= least:
                file.write(f"{target} {source} {probability:.7f}\n")


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="file of source tokens")
    parser.add_argument("target", help="file of target tokens")
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--longest", type=int, default=100,
                        help="leave out pairs with more tokens on a side")
    parser.add_argument("--best", type=int, default=100,
                        help="most targets of a source")
    parser.add_argument("--least", type=float, default=1e-4,
                        help="lowest probability that is written")
    return parser.parse_args()


def main():
    args = options()
    pairs = pairs_of(read(args.source), read(args.target), args.longest)
    table = start(pairs)
    for _ in range(args.iterations):
        table = improve(pairs, table)
    write(table, args.best, args.least, sys.stdout)


if __name__ == "__main__":
    main()
