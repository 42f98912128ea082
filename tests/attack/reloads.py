#!/usr/bin/env python3
"""Loads a model anew again and again while clients call it.

    reloads.py --server build/release/server/attend-server [--reloads 200]

Clients translate texts of several lengths without a pause; meanwhile the model
is loaded anew, each time when the load before has ended. Prints how many calls
there were and how many failed, the least resident memory in the second and in
the last tenth of the reloads, the median of the calls of each text, and what the first call
after each load took. It passes (exit code 0) if no call failed, the memory grew
by less than 16 MiB, the first calls took at most 1.2 times the median of their
text (the median of them), and the exit code of the server is 0.
"""

import argparse
import itertools
import statistics
import sys
import threading
import time

from attacked_server import MODEL, ROOT, attacked_server, report

sys.path.insert(0, str(ROOT / "tests/bench/harness"))

TEXTS = (
    "Hello.", "Two dogs are running through the snow.",
    "A man in a red shirt stands on a ladder and cleans the window of a small "
    "shop in the old town.",
    "The meeting has been moved to next Thursday at ten, since the room that we "
    "had is not free, and everybody who wants to come should tell us by Monday, "
    "so that we know how many chairs we need and whether there is enough coffee.")


class Caller(threading.Thread):
    """Calls until it is stopped, each text in turn, from one of its own on.
    `calls` are (begin, seconds, which text)."""

    def __init__(self, address, first):
        super().__init__()
        self._texts = itertools.cycle(
            (*range(first, len(TEXTS)), *range(first)))
        self.calls = []
        self.errors = []
        self.stopped = False
        self._address = address

    def run(self):
        import grpc
        from attend_client import pb
        requests = [pb.GenerateRequest(
            inputs=[pb.Input(text=text)]).SerializeToString()
            for text in TEXTS]
        answers = set()
        with grpc.insecure_channel(self._address) as channel:
            call = channel.unary_unary("/attend.v1.Attend/Generate")
            while not self.stopped:
                which = next(self._texts)
                begin = time.monotonic()
                try:
                    response = pb.GenerateResponse.FromString(
                        call(requests[which], timeout=60))
                    answers.add((which, response.results[0].choices[0].text))
                except grpc.RpcError as error:
                    self.errors.append(error.code().name)
                self.calls.append((begin, time.monotonic() - begin, which))
        if len(answers) > len(TEXTS):
            self.errors.append(f"{len(answers)} different answers")


def load(channel, pb):
    channel.unary_unary("/attend.v1.Admin/LoadModel")(
        pb.LoadModelRequest(name="en-de").SerializeToString(), timeout=120)
    return time.monotonic()


def measure(server, options):
    """The callers, when loads ended, their seconds, and the memory."""
    import grpc
    from attend_client import pb
    callers = [Caller(server.address, i % len(TEXTS))
               for i in range(options.clients)]
    for caller in callers:
        caller.start()
    ready, seconds, memory = [], [], []
    with grpc.insecure_channel(server.address) as channel:
        for i in range(options.reloads):
            begin = time.monotonic()
            ready.append(load(channel, pb))
            seconds.append(ready[-1] - begin)
            time.sleep(options.pause)
            memory.append(server.resident_mebibytes())
            if (i + 1) % 20 == 0:
                print(f"{i + 1} reloads: RSS {memory[-1]:.1f} MiB", flush=True)
    for caller in callers:
        caller.stopped = True
    for caller in callers:
        caller.join()
    return callers, ready, seconds, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--model", default=f"en-de={MODEL}")
    parser.add_argument("--reloads", type=int, default=200)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--pause", type=float, default=0.2,
                        help="seconds between two loads")
    options = parser.parse_args()

    # First calls would have to encode what the model before had in its cache.
    with attacked_server(
            options.server, options.model,
            ["--model-control=explicit", "--prefix-cache=false"]) as server:
        callers, ready, seconds, memory = measure(server, options)
        code = server.stop()

    calls = sorted(call for caller in callers for call in caller.calls)
    errors = [error for caller in callers for error in caller.errors]
    medians = [statistics.median(seconds for _, seconds, which in calls
                                 if which == text)
               for text in range(len(TEXTS))]
    first = []
    for moment in ready:
        after = [duration / medians[which] for begin, duration, which in calls
                 if begin >= moment]
        first += after[:1]
    # The old model may still drain when the new one is there, and its memory
    # with it: the least of some reloads counts.
    tenth = max(1, len(memory) // 10)
    early, late = min(memory[tenth:2 * tenth]), min(memory[-tenth:])
    took = sorted(duration for _, duration, _ in calls)
    print(f"{len(calls)} calls, p50 "
          f"{', '.join(f'{median * 1000:.1f}' for median in medians)} ms, p99 "
          f"{took[int(len(took) * 0.99)] * 1000:.1f} ms; a load took "
          f"{statistics.median(seconds):.2f} s, at most {max(seconds):.2f} s")
    ratio = statistics.median(first)
    checks = {
        f"failed calls: {len(errors)} {errors[:5] or ''}": not errors,
        f"memory {early:.1f} MiB, then {late:.1f} MiB": late - early < 16,
        f"first calls after a load: {ratio:.2f} of the median, at most "
        f"{max(first):.2f}": ratio <= 1.2,
        f"exit code {code}": code == 0,
    }
    report(checks.items())


if __name__ == "__main__":
    main()
