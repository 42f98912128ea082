"""Runs the cases of cases.json by the package of each language, prints a table of
them, and compares it with that in README.md. Started by run.sh.

    conformance_test.py NAME=COMMAND...    drivers; see README.md
"""

import collections
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import threading
import time

import table
from ring import owner
from scripted import (
    TIMEOUT, ScriptedServer, credentials_of, make_certificates)
from served import ServedTest

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parents[1] / "golden"
CASES = json.loads((HERE / "cases.json").read_text(encoding="utf-8"))
NAMES = ["one", "two", "three"]
DEFAULT_CALL = {"method": "generate", "request": {"inputs": [{"text": "a"}]}}


class RealServer(ServedTest):
    """A server of real models, which reads its arguments from the environment."""

    model = os.environ["ATTEND_MODEL"]
    flags = ("--model-control=explicit",)

    @classmethod
    def with_models(cls, directory):
        cls.models = {name: cls.with_tokenizer(directory / name)
                      for name in ("bert-4x-labels", "bert-tokens",
                                   "bert-mask", "bert-reranker")}
        cls.setUpClass()
        return cls

    @staticmethod
    def with_tokenizer(folder):
        """A golden checkpoint that reads text."""
        folder.mkdir()
        for path in (*(GOLDEN / "families" / folder.name).iterdir(),
                     *(GOLDEN / "text").glob("tokenizer*")):
            (folder / path.name).symlink_to(path)
        return folder


class Driver:
    """A program that runs cases, one for each line that it reads."""

    def __init__(self, name, command, folder):
        self.name = name
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("ATTEND_")}
        self.process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, text=True,
            stdout=subprocess.PIPE, cwd=folder, env=environment)

    def run(self, case):
        watch = threading.Timer(TIMEOUT, self.process.kill)
        watch.start()
        print(json.dumps(case), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        watch.cancel()
        if not line:
            raise RuntimeError(f"the driver of {self.name} ended")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        if self.process.wait(TIMEOUT) != 0:
            raise RuntimeError(f"the driver of {self.name} failed")


class Case:
    """A case, and its servers, which start anew for each language."""

    def __init__(self, case, address, folder):
        self.expect = case["expect"]
        self.serving = {name for name, server in
                        zip(NAMES, case.get("servers", ()))
                        if server.get("serving", True)}
        self.servers = [
            ScriptedServer(
                name, server.get("script", ()), server.get("serving", True),
                server.get("hangsAt"), server.get("diesAt"),
                server.get("models", ()),
                credentials_of(folder) if server.get("tls") else None)
            for name, server in zip(NAMES, case.get("servers", ()))]
        if "servers" in case:
            address = ",".join(server.address for server in self.servers)
        address = address or "127.0.0.1:1"  # nobody listens there
        environment = case.get("environment", {})
        from_there = "ATTEND_ADDRESS" in environment
        self.sent = {
            "target": None if from_there else address,
            "client": case.get("client", {}),
            "call": case.get("call", DEFAULT_CALL),
            "environment": {key: value.replace("TARGET", address)
                            for key, value in environment.items()}}

    def problems(self, outcome):
        """What is not as it is expected."""
        for key, expected in self.expect.items():
            found = getattr(self, "of_" + key, self.of_itself)(outcome, key)
            if not matches(key, found, expected):
                yield f"{key}: {shortened(found)}, expected {expected}"
        unasked = {"code", "refused"} - set(self.expect)
        yield from (f"{key}: {outcome[key]} {outcome.get('message', '')}"
                    for key in unasked if key in outcome)

    def of_itself(self, outcome, key):
        return outcome.get(key)

    def of_value(self, outcome, _):
        return next(iter(outcome.get("values") or ()), outcome.get("value"))

    of_begins = of_value
    of_atLeast = of_value

    def of_joined(self, outcome, _):
        return "".join(self.of_value(outcome, _) or [])

    def of_others(self, outcome, _):
        return outcome.get("others")

    def of_shape(self, outcome, _):
        value, shape = self.of_value(outcome, _), []
        while isinstance(value, list):
            shape.append(len(value))
            value = value[0]
        return shape

    def of_counts(self, outcome, _):
        return dict(collections.Counter(
            value[0][0] for value in outcome["values"]))

    def of_owners(self, outcome, _):
        """Whether calls of the texts that begin with 0, 1, ... were answered by
        the servers of their keys."""
        names = {server.address: server.name for server in self.servers}
        good = {address for address, name in names.items()
                if name in self.serving}
        return [value[0][0] for value in outcome["values"]] == [
            names[owner(hashlib.sha256(b"%8d" % i).hexdigest()[:16], names, good)]
            for i in range(self.sent["call"]["keys"])]

    def of_calls(self, *_):
        return [len(server.seen) for server in self.servers]

    def of_remainingLess(self, *_):
        first, second = self.servers[0].remaining
        return first - second

    def of_seedsAreEqual(self, *_):
        first, *_, last = self.servers[0].params
        return first.seed == last.seed != 0

    def of_prefixes(self, *_):
        return [list(params.prefix_tokens.ids)
                for params in self.servers[0].params]

    def of_newTokens(self, *_):
        return [[params.min_new_tokens, params.max_new_tokens]
                for params in self.servers[0].params]

    def of_metadata(self, *_):
        return self.servers[0].seen[-1]

    def of_cancelled(self, *_):
        return [server.ended.wait(TIMEOUT) for server in self.servers]

    def of_cancelledWhereItHung(self, *_):
        return all(server.ended.wait(TIMEOUT) for server in self.servers
                   if server.hung)

    def close(self):
        for server in self.servers:
            server.stop()


def matches(key, found, expected):
    if key in ("message", "refused"):
        return expected in (found or "")
    if key == "seconds":
        return expected[0] <= found <= expected[1]
    if key == "remainingLess":
        return found >= expected
    if key == "metadata":
        return expected.items() <= found.items()
    if key == "atLeast":
        return (found or [])[:len(expected)] == expected
    return near(found, expected, prefix=key == "begins")


def near(found, expected, prefix=False):
    """Whether two values are equal, numbers about; lists may go on."""
    if isinstance(expected, list) and isinstance(found, list):
        if len(found) != len(expected) and not (
                prefix and len(found) > len(expected)):
            return False
        return all(near(a, b, prefix) for a, b in zip(found, expected))
    if isinstance(expected, float) and isinstance(found, (float, int)):
        return abs(found - expected) <= 1e-3 * (1 + abs(expected))
    return found == expected


def shortened(value):
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) < 400 else text[:400] + "..."


def run_case(case, driver, address, folder):
    """"yes", or what is wrong."""
    running = Case(case, address, folder)
    try:
        outcome = driver.run(running.sent)
        return "; ".join(running.problems(outcome)) or "yes"
    finally:
        running.close()


def main():
    drivers = dict(argument.split("=", 1) for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        make_certificates(folder)
        server = RealServer.with_models(folder)
        try:
            columns = {}
            for name, command in drivers.items():
                begin = time.monotonic()
                driver = Driver(name, command, folder)
                columns[name] = [
                    "no" if name in case.get("notBy", ()) else
                    run_case(case, driver, server.address, folder)
                    for case in CASES]
                driver.close()
                print(f"{name}: {time.monotonic() - begin:.1f} s")
        finally:
            server.tearDownClass()
            server.doClassCleanups()
    wrong = [(case["name"], name, found[i]) for i, case in enumerate(CASES)
             for name, found in columns.items() if found[i] not in table.FINE]
    for case, name, problem in wrong:
        print(f"{name}: {case}: {problem}")
    same = table.compare_or_write([case["name"] for case in CASES], columns)
    sys.exit(1 if wrong or not same else 0)


main()
