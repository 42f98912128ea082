#!/usr/bin/env python3
"""What Ray costs: rows a second of attend.ray.Translate against those of a plain
client, at one server.

    python3 -m venv /tmp/bulk
    /tmp/bulk/bin/pip install './client/python[ray]'
    /tmp/bulk/bin/python tests/bench/bulk_jobs.py --threads 1

Both send the same sentences, --inputs-per-call in a call and --calls at once, so
the server is always full. By turns, --rounds times. A rate is that of the
middle of a job, from a fifth to four fifths of its results: as much is under way
at both times, and the start of Ray's actor (seconds) is not in it. Ray, its actor
and the server share this machine, unless --address names a server elsewhere: give
the server fewer threads than there are CPUs. The machine has to be quiet.
"""

import argparse
import concurrent.futures
import itertools
import logging
import statistics
import time

import attend
import attend.ray
import ray

from harness import attend_processes

WHO = ["A dog", "Two children", "My brother", "The old woman", "A man in a hat",
       "Our teacher", "The doctor", "Several people", "A girl", "The driver"]
DOES = ["is waiting", "is reading a book", "eats an apple", "sleeps",
        "is talking on the phone", "looks at the sky", "sings a song",
        "is writing a letter", "drinks coffee", "is laughing"]
WHERE = ["in the garden", "at the station", "on the beach", "behind the house",
         "in front of a small shop", "near the river", "on the train",
         "in the old town"]


def sentences(count):
    """Of 800 that differ."""
    all_of_them = [f"{' '.join(words)}."
                   for words in itertools.product(WHO, DOES, WHERE)]
    # 7919 is a prime: neighbours differ in all parts.
    return [all_of_them[i * 7919 % len(all_of_them)] for i in range(count)]


def by_a_client(args, address, texts):
    size = args.inputs_per_call
    calls = [texts[i:i + size] for i in range(0, len(texts), size)]
    with attend.Client(address, timeout=600) as client, \
            concurrent.futures.ThreadPoolExecutor(args.calls) as threads:
        for results in threads.map(
                lambda call: client.translate(call, num_beams=args.beams), calls):
            yield len(results)


def by_ray(args, address, texts):
    data = attend.ray.transform(
        ray.data.from_items([{"text": text} for text in texts]),
        attend.ray.Translate, server=address, actors=1, calls=args.calls,
        inputs_per_call=args.inputs_per_call, num_beams=args.beams,
        rows_per_task=args.rows_per_task)
    for batch in data.iter_batches(batch_format="pyarrow", batch_size=None):
        yield batch.num_rows


def rate(job, args, address):
    """Rows a second in the middle of a job, and of all of it."""
    texts = sentences(args.rows)
    begin = time.monotonic()
    came, done = [], 0  # when there were how many results
    for rows in job(args, address, texts):
        done += rows
        came.append((time.monotonic() - begin, done))
    if done != args.rows:
        raise RuntimeError(f"{job.__name__}: {done} results for {args.rows} rows")
    first, last = (next(mark for mark in came if mark[1] >= share * done)
                   for share in (0.2, 0.8))
    return (last[1] - first[1]) / (last[0] - first[0]), done / came[-1][0]


def measure(args, address):
    print(f"{'round':6}{'client':>11}{'ray':>12}{'ray / client':>14}"
          f"{'whole jobs':>12}", flush=True)
    ratios = []
    for i in range(args.rounds):
        (client, whole_client), (by, whole_by) = (
            rate(job, args, address) for job in (by_a_client, by_ray))
        ratios.append(by / client)
        print(f"{i + 1:<6}{client:9.1f}/s {by:9.1f}/s {by / client:13.3f}"
              f"{whole_by / whole_client:12.3f}", flush=True)
    print(f"median of ray / client: {statistics.median(ratios):.3f}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    attend_processes.add_options(parser)
    parser.add_argument("--model", default=attend_processes.ROOT / "models/en-de",
                        help="the model's directory")
    parser.add_argument("--address", help="of a server that runs; default: one "
                        "is started here")
    parser.add_argument("--threads", type=int, default=1,
                        help="of the server that is started")
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--rows-per-task", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beams", type=int, default=1)
    parser.add_argument("--inputs-per-call", type=int, default=32)
    parser.add_argument("--calls", type=int, default=16)
    args = parser.parse_args()
    if args.rows < 10 * args.rows_per_task:
        parser.error(f"--rows is {args.rows}, must be at least ten times "
                     f"--rows-per-task, {args.rows_per_task}")
    ray.init(logging_level="warning")
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    server = None if args.address else attend_processes.Server(
        args.build, args.model,
        ["--prefix-cache=false", f"--threads={args.threads}", *args.flag])
    try:
        measure(args, args.address or server.address)
    finally:
        if server:
            server.close()
        ray.shutdown()


if __name__ == "__main__":
    main()
