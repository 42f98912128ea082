#!/usr/bin/env python3
"""Memory and time of very long sources and prompts.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install numpy==2.4.6
    /tmp/bench/bin/python tests/bench/long_sources.py --model decoder --dtype f32
    /tmp/bench/bin/python tests/bench/long_sources.py --model small-decoder \\
        --dtype f32 --lengths 32768,65536,131072

One process of attend-engine-bench for each length, on a model with random
weights and as many positions. --model is `translator`, of d 512 and 6 + 6 layers
(time is of encoding and one new token), `encoder` (ModernBERT-base's shape,
embedding) or `decoder` (SmolLM2-135M's, the prompt and one new token), or one of
the latter with `small-` before it. Memory is the peak of the process, from when
it has loaded, above that of one made for 64 tokens: hidden states, queries, keys
and values of an encoder, and a decoder's keys and values (--kv-cache-bytes is
set to what they need). "linear" is the growth of memory from one length to the
next against the growth of the length: 1 is linear, attention that keeps its
scores would show 4.
"""

import argparse
import json
import math
import pathlib
import tempfile

from checkpoints import random_long, random_marian
from harness import attend_processes, machine
from workloads import translation as workloads

D_MODEL, LAYERS, BASE_LENGTH = 512, 6, 64
BLOCK = 16  # tokens that the KV pool gives out at once


class Translator:
    def __init__(self, directory, positions):
        shape = random_marian.options(
            [directory, f"--max-positions={positions}",
             f"--d-model={D_MODEL}", f"--layers={LAYERS}"])
        random_marian.write_model(shape)
        self.kv_floats = LAYERS * 2 * D_MODEL
        self.ids = range(workloads.FIRST_RANDOM_ID, shape.vocab - 1)
        self.job = {"max_new_tokens": 1, "min_new_tokens": 1}

    def source(self, length):
        return [self.ids[i * 7919 % len(self.ids)]
                for i in range(length - 1)] + [workloads.EOS]


class LongModel:
    def __init__(self, name, directory, positions):
        shape = random_long.write_model(name, directory, positions + 1)
        self.kv_floats, self.job = 0, {"task": "embed"}
        if name.endswith("decoder"):
            self.kv_floats = shape.layers * 2 * shape.kv_width()
            self.job = {"max_new_tokens": 1, "min_new_tokens": 1}
        self.ids = range(random_long.FIRST_ID, random_long.VOCAB)

    def source(self, length):
        return [self.ids[i * 7919 % len(self.ids)] for i in range(length)]


def make_model(name, directory, positions):
    if name == "translator":
        return Translator(directory, positions)
    return LongModel(name, directory, positions)


def pool_bytes(model, length):
    """Room for the source and a short target in f32, whatever the dtype is, and
    for what pads a block."""
    tokens = (math.ceil(length / BLOCK) + 4) * BLOCK
    return tokens * max(model.kv_floats, 1) * 4 * 33 // 32


def run(args, directory, model, length):
    """Seconds and peak bytes of one source in a process of its own."""
    pool = args.kv_cache_bytes or pool_bytes(model, length)
    flags = [f"--max-source-tokens={length}", f"--kv-cache-bytes={pool}",
             *attend_processes.dtype_flags(args.dtype), *args.flag]
    engine = attend_processes.Engine(args.build, directory, flags)
    try:
        source = model.source(length)
        engine.run(model.job | {"sources": [source[-8:]]})  # it is loaded now
        engine.reset_peak()
        answer = engine.run(model.job | {"sources": [source]})
        return answer["seconds"], engine.peak_rss()
    finally:
        engine.close()


def measure(args, directory, model):
    _, base = run(args, directory, model, BASE_LENGTH)
    rows = []
    for length in args.lengths:
        seconds, peak = run(args, directory, model, length)
        row = {"tokens": length, "peak_bytes": peak, "more_bytes": peak - base,
               "seconds": seconds, "tokens_per_second": length / seconds}
        if rows:
            last = rows[-1]
            row["memory_growth_over_length_growth"] = (
                row["more_bytes"] / last["more_bytes"]
                / (length / last["tokens"]))
        rows.append(row)
    return rows


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--model", default="translator",
                        choices=["translator", *random_long.SHAPES])
    parser.add_argument("--lengths", default="1024,4096,16384,32768")
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--kv-cache-bytes", help="of every process; default: "
                        "what its length needs")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    args.lengths = [int(length) for length in args.lengths.split(",")]
    return args


def main():
    args = options()
    with tempfile.TemporaryDirectory() as directory:
        model = make_model(args.model, directory, max(args.lengths))
        rows = measure(args, pathlib.Path(directory), model)
    info = machine.cpu()
    if args.json:
        print(json.dumps({"cpu": info, "model": args.model,
                          "dtype": args.dtype, "rows": rows}, indent=1))
        return
    print(machine.describe(info, False))
    print(f"{'tokens':>7} {'peak MiB':>9} {'more MiB':>9} {'linear':>7} "
          f"{'seconds':>8} {'tokens/s':>9}")
    for row in rows:
        growth = row.get("memory_growth_over_length_growth")
        print(f"{row['tokens']:>7} {row['peak_bytes'] / 2**20:>9.0f} "
              f"{row['more_bytes'] / 2**20:>9.0f} "
              f"{'' if growth is None else format(growth, '.2f'):>7} "
              f"{row['seconds']:>8.2f} {row['tokens_per_second']:>9.0f}")


if __name__ == "__main__":
    main()
