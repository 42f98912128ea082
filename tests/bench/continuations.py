#!/usr/bin/env python3
"""Compares continuations with llama.cpp, ik_llama.cpp, CTranslate2, OpenVINO GenAI,
ONNX Runtime GenAI and vLLM: same weights, ids and machine.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/continuations.py

continues prompts of random ids with SmolLM2-135M (checkpoints/smollm2.py makes
the checkpoint, and each peer's own program what it reads):

    one      one prompt after the other, 32 tokens and 128 new ones
    sixteen  16 prompts at a time, 32 tokens and 64 new ones
    prompt   one prompt after the other, 1,024 tokens and a new one
    prefix   1,000 tokens that were seen before, 16 of its own, and a new one

* All are libraries here, with ids in hand: attend-engine-bench, and the peers
  in Python, each in an environment of its own (peers/decoders, peers/environments;
  the first run makes them). All use all CPUs for one batch.
* Numbers have the same bits: int8 is Q8_0 of llama.cpp and ik_llama.cpp, int8 of
  CTranslate2, weights of int8 of OpenVINO and ONNX Runtime, W8A8 of vLLM.
* Rounds alternate between all; the table shows medians, and how many times
  faster Attend is. "matmuls": the share of its time that the same steps' matrix
  products take alone. Nobody drafts tokens, as random ids repeat themselves as no
  text does; the row "itself, drafting" is Attend with --prompt-lookup.
* "perplexity": how much more than by transformers in f32, of the first tokens of
  three texts, the mean; Attend's, then the peer's.
* "prefix" compares Attend with itself, as if it had not seen the tokens: "faster"
  is the time to the first new token without the prefix cache against that with it.
* Before anything is timed in f32, greedy ids of all are compared.

With --shape it has random weights in the shape of a published model (see
checkpoints/random_decoder.py and peers/decoders/at_size.py), fewer tokens of each
workload, and prompts of 4,096 and 16,384 tokens by Attend alone. "of limit" is the
share of memory's rate at which one stream reads weights, else the rate of products
as a share of oneDNN's best; then how the time divides.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

import grpc

from checkpoints import random_decoder, smollm2
from harness import attend_client, attend_processes, machine, perplexity
from peers.decoders import at_size, peer
from workloads import continuations

QUIET_SECONDS = 0.25  # until the threads of whoever ran before sleep
PREFIX, OWN = 1000, 16
DTYPES = ("int8", "bf16", "f32")
TEXTS = [perplexity.SENTENCES, attend_processes.ROOT / "docs/architecture.md",
         attend_processes.ROOT / "docs/security.md"]
TEXT_TOKENS = 1024


# ---------------------------------------------------------------------- measuring

def timed(runner, job_):
    time.sleep(QUIET_SECONDS)
    return runner.run(job_)["seconds"]


def compare(name, dtype, engine, others, args):
    workload = continuations.WORKLOADS[name]
    runners = [engine, *others]
    for runner in runners:
        runner.run(continuations.job(name, workload, "warm") | {
            "max_new_tokens": 2, "min_new_tokens": 2})
    seconds = {runner: [] for runner in runners}
    for round_ in range(args.rounds):
        for runner in runners:
            seconds[runner].append(timed(runner, continuations.job(
                name, workload, round_)))
    median = {runner: statistics.median(all_)
              for runner, all_ in seconds.items()}
    matmuls = engine.run(continuations.job(name, workload, "matmuls")
                         | {"matmuls": True})
    return [{
        "workload": name, "dtype": dtype, "peer": other.name,
        "attend_per_second": workload.counted() / median[engine],
        "peer_per_second": workload.counted() / median[other],
        "times_faster": median[other] / median[engine],
        "matmul_share": matmuls["matmul_seconds"] / matmuls["seconds"],
    } for other in others]


def prefix(dtype, engine, args):
    """Each round has a prefix of its own, so that the first is cold."""
    cold, warm = [], []
    for round_ in range(args.rounds):
        shared = continuations.ids(PREFIX, f"prefix {round_}")
        for i, times in enumerate((cold, warm)):
            times.append(timed(engine, {
                "sources": [shared + continuations.ids(OWN, f"own {round_} {i}")],
                "max_new_tokens": 1, "min_new_tokens": 1}))
    mine, theirs = statistics.median(warm), statistics.median(cold)
    return {"workload": "prefix", "dtype": dtype, "peer": "itself, not seen",
            "attend_per_second": (PREFIX + OWN) / mine,
            "peer_per_second": (PREFIX + OWN) / theirs,
            "times_faster": theirs / mine}


def check(engine, others):
    """How many greedy continuations are those of Attend."""
    work = continuations.job(
        "sixteen", continuations.WORKLOADS["sixteen"], "check") | {
            "outputs": True}
    mine = engine.run(work)["outputs"]
    for other in others:
        same = sum(a == b for a, b in zip(mine, other.run(work)["outputs"]))
        print(f"equal greedy ids, {other.name}: {same} of {len(mine)}",
              flush=True)


# ------------------------------------------------------------------------ quality

def quality(args, checkpoint, flags, others, references):
    """{name: how much more perplexity than in f32}, of Attend as "attend"."""
    server = attend_processes.Server(args.build, checkpoint, flags)
    try:
        with grpc.insecure_channel(server.address) as channel:
            stub = attend_client.rpc.AttendStub(channel)
            found = {"attend": perplexity.above(
                lambda ids_: perplexity.score(stub, ids_), references)}
    finally:
        server.close()
    for other in others:
        found[other.name] = perplexity.above(
            lambda ids_, other=other: other.run({"score": ids_})["log_probs"],
            references)
    return found


# ------------------------------------------------------------------------- tables

HEADER = (f"{'workload':<9} {'dtype':<5} {'attend /s':>10} {'peer /s':>9} "
          f"{'faster':>7} {'matmuls':>8} {'perplexity':>16}  peer")


def line(row):
    share = f"{row['matmul_share']:.0%}" if "matmul_share" in row else ""
    worse = " ".join(f"{row[name]:+.2%}" for name in
                     ("attend_perplexity", "peer_perplexity") if name in row)
    return (f"{row['workload']:<9} {row['dtype']:<5} "
            f"{row['attend_per_second']:>10.0f} {row['peer_per_second']:>9.0f} "
            f"{row['times_faster']:>6.2f}x {share:>8} {worse:>16}  {row['peer']}")


def with_quality(row, found):
    # The row of Attend itself has Attend's.
    return row | {"attend_perplexity": found["attend"],
                  "peer_perplexity": found.get(row["peer"], found["attend"])}


def measure(args, models, references, dtype):
    checkpoint = models / "checkpoint"
    flags = ["--kv-cache-bytes=1GiB", *attend_processes.dtype_flags(dtype),
             *args.flag]
    others = peer.peers(dtype, args.peers, [checkpoint, smollm2.gguf()], models,
                        args.environments)
    engine = attend_processes.Engine(
        args.build, checkpoint, [*flags, "--prompt-lookup=false"])
    drafting = attend_processes.Engine(args.build, checkpoint, flags)
    drafting.name = "itself, drafting"
    rows = []
    try:
        found = quality(args, checkpoint, flags, others, references)
        if dtype == "f32":
            check(engine, others)
        for workload in args.workloads:
            compared = [*others, drafting] if workload != "prompt" else others
            rows += [with_quality(row, found) for row in compare(
                workload, dtype, engine, compared, args)]
            print("\n".join(map(line, rows[-len(compared):])), flush=True)
        rows.append(with_quality(prefix(dtype, engine, args), found))
        print(line(rows[-1]), flush=True)
        return rows
    finally:
        for runner in [engine, drafting, *others]:
            runner.close()


def options():
    names = [runtime.name for runtime in peer.RUNTIMES]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--shape", choices=random_decoder.SHAPES,
                        help="a decoder of this shape with random weights, "
                        "instead of SmolLM2-135M")
    parser.add_argument("--dtypes", nargs="+", choices=("int4", *DTYPES),
                        help="by default all but int4; of a shape int8")
    parser.add_argument("--workloads", nargs="*", choices=continuations.AT_SIZE,
                        help="longer prompts are for a shape alone")
    parser.add_argument("--threads", type=int, help="of each program, with "
                        "--shape; with one, CPU time is compared")
    parser.add_argument("--peers", nargs="*", choices=names, default=names)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--environments", type=pathlib.Path,
                        default=attend_processes.ROOT / "build/peers",
                        help="where those of the peers are, or are made")
    parser.add_argument("--models", type=pathlib.Path,
                        help="keeps the models there, for the next run")
    parser.add_argument("--json", type=pathlib.Path,
                        help="writes the rows there, too")
    args = parser.parse_args()
    known = continuations.AT_SIZE if args.shape else continuations.WORKLOADS
    args.dtypes = args.dtypes or (["int8"] if args.shape else DTYPES)
    if args.workloads is None:
        args.workloads = list(known)
    if not set(args.workloads) <= set(known):
        parser.error("prompts of that length need a --shape")
    return args


def run(args, models):
    models.mkdir(parents=True, exist_ok=True)
    print(machine.describe(machine.cpu(), False))
    if args.shape:
        return at_size.run(args, models)
    checkpoint = models / "checkpoint"
    if not (checkpoint / "model.safetensors").exists():
        checkpoint.mkdir(exist_ok=True)
        smollm2.write_checkpoint(checkpoint)
    references = perplexity.reference(
        checkpoint, [text.read_text(encoding="utf-8") for text in TEXTS],
        TEXT_TOKENS)
    print(HEADER)
    return [row for dtype in args.dtypes
            for row in measure(args, models, references, dtype)]


def main():
    args = options()
    with tempfile.TemporaryDirectory() as scratch:
        rows = run(args, (args.models or pathlib.Path(scratch)).resolve())
    if args.json:
        args.json.write_text(json.dumps(
            {"cpu": machine.cpu(), "rounds": args.rounds, "rows": rows},
            indent=1))


if __name__ == "__main__":
    sys.exit(main())
