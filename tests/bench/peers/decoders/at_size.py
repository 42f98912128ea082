"""Compares a decoder in the shape of a published model (continuations.py --shape).

Weights are random, so only speed counts. What fits into memory together takes turns,
round after round; else each program runs alone, all its rounds after each other. A
program that does not fit alone is left out, and a sentence says what it would take.
"""

import dataclasses
import os
import pathlib
import statistics
import time

from checkpoints import decoder_gguf, random_decoder
from harness import attend_processes, limits
from peers.decoders import peer
from workloads import continuations

QUIET_SECONDS = 0.25  # until the threads of the previous program sleep
MOST_SHARE = 0.9  # of the memory that is free
BESIDE_WEIGHTS = 1.5e9  # bytes: keys and values, activations, the program
KV_CACHE = "1GiB"
PEER_TOKENS = 2048  # of a sequence


@dataclasses.dataclass
class Runner:
    """A program that starts when it is first used."""

    name: str
    start: object
    bytes: float  # of memory, while it runs
    process: object = None

    def run(self, job):
        if self.process is None:
            self.process = self.start()
        return self.process.run(job)

    def close(self):
        if self.process is not None:
            self.process.close()
        self.process = None


def available():
    """Bytes of memory that programs can still have."""
    for line in pathlib.Path("/proc/meminfo").read_text().split("\n"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the kernel does not tell MemAvailable")


def fits(name, needed):
    """Whether it does; says so if not."""
    there = MOST_SHARE * available()
    if needed > there:
        print(f"{name} is left out: it takes {needed / 1e9:.1f} GB, and "
              f"{there / 1e9:.1f} GB are there", flush=True)
    return needed <= there


def thread_flags(args):
    return [f"--threads={args.threads}"] if args.threads else []


def runners(args, dtype, folder):
    weights = random_decoder.parameters(args.shape)
    found = [Runner("attend", lambda: attend_processes.Engine(
        args.build, folder / "checkpoint",
        [f"--kv-cache-bytes={KV_CACHE}", "--prompt-lookup=false",
         *attend_processes.dtype_flags(dtype), *thread_flags(args),
         *args.flag]),
        weights * limits.PACKED_BYTES[dtype] + BESIDE_WEIGHTS)]
    for runtime in peer.RUNTIMES:
        if runtime.name not in args.peers or dtype not in runtime.precisions:
            continue
        made = (folder / f"{runtime.environment}-{runtime.precisions[dtype]}"
                ).exists()
        if not made and not fits(f"making {runtime.name}'s model",
                                 weights * runtime.bytes_to_make):
            continue
        for setting in runtime.settings:
            found.append(Runner(
                " ".join(filter(None, [runtime.name, runtime.precisions[dtype],
                                       setting])),
                lambda runtime=runtime, setting=setting: peer.Peer(
                    runtime, setting, dtype,
                    [folder / "checkpoint", folder / "model.bf16.gguf"], folder,
                    args.environments),
                weights * runtime.bytes_to_run[dtype] + BESIDE_WEIGHTS))
    return [runner for runner in found if fits(runner.name, runner.bytes)]


def attempt(runner, job):
    """The answer; None, and a line that says why, of a peer that ended."""
    try:
        return runner.run(job)
    except RuntimeError as error:
        if runner.name == "attend":
            raise
        print(f"{runner.name} is left out: {error}", flush=True)
        return None


def warm_up(runner):
    small = continuations.Workload(1, 32, 1, 2)
    return attempt(runner, continuations.job("warm", small, 0)) is not None


def measure(group, args, rates):
    """(runner, workload) -> answers, of a group that takes turns. The rate of memory
    is measured before each round."""
    answers = {}
    left = [runner for runner in group if warm_up(runner)]
    for round_ in range(args.rounds):
        rates.append(limits.measure(args.build, thread_flags(args)))
        for name in args.workloads:
            workload = continuations.AT_SIZE[name]
            for runner in list(left):
                if runner.name != "attend" and workload.tokens >= PEER_TOKENS:
                    continue
                time.sleep(QUIET_SECONDS)
                # To record ops costs less than a thousandth of the time.
                answer = attempt(runner, continuations.job(
                    name, workload, round_) | {"ops": True})
                if answer is None:
                    left.remove(runner)
                else:
                    answers.setdefault((runner.name, name), []).append(answer)
    return answers


def share(shape, dtype, workload, seconds, rates):
    """Of the limit of the workload: memory's for one stream, else that of
    products."""
    layers, vocabulary = random_decoder.step_weights(shape)
    if workload.in_flight == 1 and workload.new_tokens > 1:
        return limits.of_memory(
            statistics.median(memory for memory, _ in rates), dtype,
            layers + vocabulary, workload.prompts * workload.new_tokens, seconds)
    rows, logits = workload.rows()
    return limits.of_products(rates[0][1], dtype,
                              rows * layers + logits * vocabulary, seconds)


def compare(args, dtype, folder):
    """Rows, of Attend first."""
    all_ = runners(args, dtype, folder)
    together = sum(runner.bytes for runner in all_) < MOST_SHARE * available()
    answers, rates = {}, []
    for group in [all_] if together else [[runner] for runner in all_]:
        try:
            answers |= measure(group, args, rates)
        finally:
            for runner in group:
                runner.close()
    return rows(args, dtype, answers, rates)


def rows(args, dtype, answers, rates):
    found = []
    # One thread waits for nobody, so other work disturbs its CPU time least.
    clock = "cpu_seconds" if args.threads == 1 else "seconds"
    seconds = {key: statistics.median(answer[clock] for answer in each)
               for key, each in answers.items()}
    for (name, workload_name), took in seconds.items():
        workload = continuations.AT_SIZE[workload_name]
        row = {"shape": args.shape, "dtype": dtype, "workload": workload_name,
               "program": name, "per_second": workload.counted() / took}
        if ("attend", workload_name) in seconds:
            row["times_faster"] = took / seconds["attend", workload_name]
        if name == "attend":
            row["share"] = share(args.shape, dtype, workload, took, rates)
            row["division"] = limits.division(answers[name, workload_name][-1])
        found.append(row)
    order = list(args.workloads)
    return sorted(found, key=lambda row: order.index(row["workload"]))


HEADER = (f"{'workload':<10} {'dtype':<5} {'tokens/s':>9} {'attend':>7} "
          f"{limits.HEADER}  program")


def line(row):
    times = f"{row['times_faster']:.2f}x" if "times_faster" in row else ""
    return (f"{row['workload']:<10} {row['dtype']:<5} {row['per_second']:>9.1f} "
            f"{times:>7} {limits.line(row)}  {row['program']}")


def run(args, models):
    if args.threads:
        os.environ["PEER_THREADS"] = str(args.threads)
    folder = models / args.shape
    random_decoder.write_checkpoint(args.shape, folder / "checkpoint")
    if {"llama.cpp", "ik_llama.cpp"} & set(args.peers):
        decoder_gguf.write(folder / "checkpoint", folder / "model.bf16.gguf")
    print(HEADER)
    found = []
    for dtype in args.dtypes:
        found += compare(args, dtype, folder)
        print("\n".join(line(row) for row in found if row["dtype"] == dtype),
              flush=True)
    return found
