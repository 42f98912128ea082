#!/usr/bin/env python3
"""Memory and time of encoding very long sources.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install numpy==2.4.6
    /tmp/bench/bin/python tests/bench/long.py --dtype f32

One process of attend-engine-bench for each length, on a model of d 512 and 6 +
6 layers with random weights and 32,768 positions. Memory is the peak of the
process, from when it has loaded, above that of one made for 64 tokens: hidden states, keys and values of
the encoder, and the decoder's keys and values of the source (--kv-cache-bytes
is set to what they need). "linear" is the growth of memory from one length to
the next against the growth of the length: 1 is linear, attention that keeps its
scores would show 4. Time is of encoding and one new token.
"""

import argparse
import json
import math
import pathlib
import tempfile

import attend_processes
import machine
import random_model
import workloads

D_MODEL, LAYERS, BASE_LENGTH = 512, 6, 64
BLOCK = 16  # tokens that the KV pool gives out at once


def pool_bytes(length):
    """Room for the source and a short target in f32, whatever the dtype is, and
    for what pads a block."""
    tokens = (math.ceil(length / BLOCK) + 4) * BLOCK
    return tokens * LAYERS * 2 * D_MODEL * 4 * 33 // 32


def encode(args, model, vocab, length):
    """Seconds and peak bytes of one source in a process of its own."""
    flags = [f"--max-source-tokens={length}",
             f"--kv-cache-bytes={args.kv_cache_bytes or pool_bytes(length)}",
             *attend_processes.dtype_flags(args.dtype), *args.flag]
    engine = attend_processes.Engine(args.build, model, flags)
    try:
        source = [workloads.FIRST_RANDOM_ID + i * 7919 %
                  (vocab - 1 - workloads.FIRST_RANDOM_ID)
                  for i in range(length - 1)] + [workloads.EOS]
        job = {"sources": [source], "max_new_tokens": 1, "min_new_tokens": 1}
        engine.run(job | {"sources": [source[-8:]]})  # it is loaded now
        engine.reset_peak()
        return engine.run(job)["seconds"], engine.peak_rss()
    finally:
        engine.close()


def measure(args, model, vocab):
    _, base = encode(args, model, vocab, BASE_LENGTH)
    rows = []
    for length in args.lengths:
        seconds, peak = encode(args, model, vocab, length)
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
    with tempfile.TemporaryDirectory() as model:
        shape = random_model.options(
            [model, f"--max-positions={max(args.lengths)}",
             f"--d-model={D_MODEL}", f"--layers={LAYERS}"])
        random_model.write_model(shape)
        rows = measure(args, pathlib.Path(model), shape.vocab)
    info = machine.cpu()
    if args.json:
        print(json.dumps({"cpu": info, "dtype": args.dtype, "rows": rows},
                         indent=1))
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
