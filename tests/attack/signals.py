#!/usr/bin/env python3
"""Signals from outside, and standard descriptors that nobody serves.

    signals.py --server build/release/server/attend-server [--seconds 20]

* While storms of SIGUSR1, SIGUSR2, SIGPIPE, SIGHUP, SIGWINCH and SIGCHLD last,
  and the server is stopped and goes on (SIGSTOP, SIGCONT) now and then, no call
  fails.
* SIGTERM, SIGINT or SIGQUIT in the storm: what runs is answered, the exit code
  is 0. A second one ends the server at once, with exit code 1.
* SIGTERM at any time of the start: exit code 0 within a second, or SIGTERM
  before the server has taken it over. It never hangs.
* SIGTERM to process 1 of a namespace in each of the first 40 ms of the program:
  it ends. (Needs root.) The kernel discards only what comes in the first
  millisecond, before the launcher has blocked the signal.
* A pipe for the log that nobody reads, and /dev/full, delay no call, and the
  end by 1 s at most.
* Any of the standard descriptors may be closed. None of them becomes a socket.

Needs grpcio and grpcio-tools.
"""

import argparse
import itertools
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

from attacked_server import MODEL, ROOT, attacked_server, report
from mutated import connect, finish

sys.path.insert(0, str(ROOT / "tests/bench/harness"))

STORM = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE, signal.SIGHUP,
         signal.SIGWINCH, signal.SIGCHLD)
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)


def request(tokens):
    from attend_client import params, pb
    return pb.GenerateRequest(inputs=[pb.Input(text="Two dogs run.")] * 4,
                              params=params(1, tokens)).SerializeToString()


class Calls(threading.Thread):
    """Calls until they fail or are stopped; `codes` are those but OK."""

    def __init__(self, address, tokens):
        super().__init__()
        self.count = 0
        self.codes = []
        self.stopped = False
        self._address = address
        self._message = request(tokens)

    def run(self):
        with connect(self._address) as channel:
            generate = channel.unary_stream("/attend.v1.Attend/Generate")
            while not self.stopped and not self.codes:
                code, _ = finish(generate(self._message, timeout=60))
                self.count += 1
                if code != "OK":
                    self.codes.append(code)


def storm(pid, end, stops):
    """Sends signals until the time `end`, or until nobody is there."""
    sent = 0
    try:
        while time.time() < end:
            os.kill(pid, random.choice(STORM))
            sent += 1
            if stops and random.random() < 0.0005:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(0.5)
                os.kill(pid, signal.SIGCONT)
            time.sleep(0.0005)
    except ProcessLookupError:
        pass
    return sent


def storms(options):
    with attacked_server(options.server, options.model) as server:
        callers = [Calls(server.address, 30) for _ in range(4)]
        for caller in callers:
            caller.start()
        sent = storm(server.pid, time.time() + options.seconds, True)
        for caller in callers:
            caller.stopped = True
        for caller in callers:
            caller.join()
        failed = [code for caller in callers for code in caller.codes]
        count = sum(caller.count for caller in callers)
        code = server.stop()
    yield (f"{sent} signals beside {count} calls: failed {failed or 'none'}",
           not failed and count > 0)
    yield f"exit code {code}", code == 0


def ends_in_a_storm(options):
    """What runs is answered; what comes later is refused."""
    for number in ENDS:
        with attacked_server(options.server, options.model) as server:
            running = Calls(server.address, 400)
            running.start()
            storming = threading.Thread(target=storm, args=(
                server.pid, time.time() + 60, False))
            storming.start()
            while running.count < 2:
                time.sleep(0.01)
            server.signal(number)
            code = server.wait(60)
            running.join()
            storming.join()
            served = set(re.findall(r"event=call .*? code=(\w+)", server.log()))
        # gRPC says CANCELLED to who comes while it closes the port.
        yield (f"{number.name} in a storm: exit code {code}, then a call ends "
               f"with {running.codes}; the server's: {sorted(served)}",
               code == 0 and served <= {"OK", "UNAVAILABLE"} and
               running.codes in (["UNAVAILABLE"], ["CANCELLED"]))


def second_signals(options):
    for first, second in itertools.product(ENDS, ENDS):
        with attacked_server(options.server, options.model,
                             ["--drain-delay=1m"]) as server:
            server.signal(first)
            while "event=draining" not in server.log():
                time.sleep(0.01)
            server.signal(second)
            code = server.wait(20)
        yield f"{first.name}, then {second.name}: exit code {code}", code == 1


def command(options):
    return [options.server, f"--model={options.model}", "--host=127.0.0.1",
            "--port=0", "--http-host=127.0.0.1", "--http-port=0",
            "--kv-cache-bytes=16MiB"]


def at_the_start(options):
    codes = {}
    longest = 0
    for number in range(40):
        process = subprocess.Popen(command(options), stderr=subprocess.DEVNULL)
        time.sleep(number * 0.02)
        process.terminate()
        begin = time.monotonic()
        try:
            code = process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            code = "none: it hangs"
        longest = max(longest, time.monotonic() - begin)
        codes[code] = codes.get(code, 0) + 1
    yield (f"SIGTERM at 40 times of the start: exit codes {codes}, after "
           f"{longest:.2f} s at most",
           codes.keys() <= {0, -signal.SIGTERM} and 0 in codes and longest < 1)


def child_that_runs(parent, program):
    """The child of a process, once it runs the program."""
    while True:
        children = pathlib.Path(
            f"/proc/{parent}/task/{parent}/children").read_text().split()
        try:
            if children and os.path.basename(os.readlink(
                    f"/proc/{children[0]}/exe")).startswith(program):
                return int(children[0])
        except OSError:
            pass  # not yet


def as_process_1(options):
    if os.geteuid() != 0:
        return
    lost, early = [], 0
    for millis in range(40):
        process = subprocess.Popen(
            ["unshare", "--pid", "--fork", "--kill-child", *command(options)],
            stderr=subprocess.DEVNULL)
        child = child_that_runs(process.pid, "attend-server")
        time.sleep(millis / 1000)
        status = pathlib.Path(f"/proc/{child}/status").read_text()
        blocked = int(re.search(r"SigBlk:\s*(\w+)", status)[1], 16)
        runs = blocked >> (signal.SIGTERM - 1) & 1
        os.kill(child, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            if runs:
                lost.append(millis)
        early += not runs
    yield (f"SIGTERM to process 1 in its first 40 ms: {early} times before it "
           f"was blocked, lost after {lost or 'no'} ms", not lost and early < 5)


def unread(options):
    """The log goes where it is not taken."""
    for name in "pipe", "/dev/full":
        reader, writer = os.pipe()
        log = writer if name == "pipe" else open(name, "w")
        process = subprocess.Popen(command(options), stderr=log)
        address = listening(process.pid)
        call_many(address, 4000)
        begin = time.monotonic()
        process.terminate()
        code = process.wait(30)
        took = time.monotonic() - begin
        os.close(reader)
        os.close(writer)
        yield (f"log to {name}: 4000 calls, exit code {code} after "
               f"{took:.1f} s", code == 0 and took < 3)


def listening(pid):
    """The address of the gRPC port, without a log: it speaks HTTP/2."""
    import grpc
    while True:
        inodes = set()
        for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            try:
                inodes |= set(re.findall(r"socket:\[(\d+)\]",
                                         os.readlink(descriptor)))
            except OSError:
                pass  # closed meanwhile
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] != "0A" or fields[9] not in inodes:
                continue
            address = f"127.0.0.1:{int(fields[1].split(':')[1], 16)}"
            with connect(address) as channel:
                try:
                    channel.unary_unary("/attend.v1.Attend/ListModels")(
                        b"", timeout=5)
                    return address
                except grpc.RpcError:
                    pass  # the port of HTTP
        time.sleep(0.1)


def call_many(address, count):
    with connect(address) as channel:
        models = channel.unary_unary("/attend.v1.Attend/ListModels")
        for _ in range(count):
            models(b"", timeout=5)


def closed(options):
    for left in itertools.product((True, False), repeat=3):
        closing = " ".join(f"{number}>&-" if keep is False else ""
                           for number, keep in enumerate(left))
        process = subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$@" {closing}', "bash",
             *command(options)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        call_many(listening(process.pid), 10)
        targets = [os.readlink(f"/proc/{process.pid}/fd/{number}")
                   for number in range(3)]
        process.terminate()
        code = process.wait(30)
        yield (f"descriptors 0 to 2 open: {left}: {targets}, exit code {code}",
               code == 0 and targets == ["/dev/null"] * 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--seconds", type=float, default=20,
                        help="of the first storm")
    options = parser.parse_args()
    report(itertools.chain.from_iterable(
        part(options) for part in (storms, ends_in_a_storm, second_signals,
                                   at_the_start, as_process_1, unread, closed)))


if __name__ == "__main__":
    main()
