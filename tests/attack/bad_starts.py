#!/usr/bin/env python3
"""Starts that cannot succeed, and some that only look so.

    bad_starts.py --server build/release/server/attend-server

Sizes that no machine has, files that are directories, empty, endless, cut off
or unreadable, pipes that nobody writes to, and limits of the system in small
steps. Each start either ends within half a minute with exit code 1 and one
line, event=failed, at the end of its log (2 and a line without a time where the
command line itself is wrong), or the server is ready, answers, and ends with
exit code 0 at SIGTERM. No start is ended by a signal, and none leaves a process
behind. Some starts need root, and are left out without.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from attacked_server import MODEL
from identities import Certificates

SECONDS = 30


class Start:
    """A start behind a command of the shell; `log` is all that it wrote."""

    def __init__(self, options, before, flags):
        model = [] if any(flag.startswith("--model") for flag in flags) else [
            f"--model={options.model}"]
        command = [options.server, "--host=127.0.0.1", "--port=0",
                   "--http-host=127.0.0.1", "--http-port=0",
                   "--kv-cache-bytes=16MiB", *model, *flags]
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", f'{before} exec "$@"', "bash", *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True, text=True)
        self.log = ""

    def end(self, ready):
        """How it ended: "ready", "failed", or what is wrong with it."""
        alarm = signal.signal(signal.SIGALRM, lambda *_: self._kill())
        signal.alarm(SECONDS)
        served = False
        for line in self._process.stderr:
            self.log += line
            if "event=ready" in line:
                served = ready(line)
                self._process.send_signal(signal.SIGTERM)
        code = self._process.wait()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, alarm)
        lines = self.log.splitlines() or [""]
        if "event=ready" in self.log:
            if not served:
                return "it did not answer"
            return "ready" if code == 0 else f"exit code {code} after ready"
        if code in (126, 127):  # of the loader, or of the command before
            return "not started"
        if code == 2 and lines[-1].startswith("attend-server: "):
            return "failed"
        failed = [line for line in lines if "event=failed" in line]
        if code == 1 and failed == lines[-1:]:
            return "failed"
        return f"exit code {code}, {lines[-1]!r}"

    def _kill(self):
        self.log += "killed: it neither failed nor was ready\n"
        os.killpg(self._process.pid, signal.SIGKILL)


def answers(line):
    port = re.search(r"http_port=(\d+)", line)[1]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz",
                                timeout=20) as page:
        return page.status == 200


def bad_files(directory):
    """Paths by what is wrong with them."""
    files = {name: directory / name for name in
             ("directory", "empty", "terabyte", "pipe", "missing", "zeros",
              "garbage")}
    files["directory"].mkdir()
    files["empty"].touch()
    with open(files["terabyte"], "wb") as file:
        file.truncate(1 << 40)
    os.mkfifo(files["pipe"])
    files["zeros"].symlink_to("/dev/zero")
    files["garbage"].write_bytes(random.Random(1).randbytes(100_000))
    return files


def spoilt_models(directory, model):
    """Directories of models with one bad file each."""
    bad = bad_files(directory)
    for file in sorted(pathlib.Path(model).iterdir()):
        if file.suffix == ".md":
            continue
        whole = file.read_bytes()
        cut = {f"{share:.2f}": whole[:int(len(whole) * share)]
               for share in (0, 0.01, 0.5, 0.99)}
        for name in [*bad, *cut]:
            copy = directory / f"{file.name}-{name}"
            copy.mkdir()
            for other in pathlib.Path(model).iterdir():
                if other != file:
                    (copy / other.name).symlink_to(other)
            if name in bad:
                (copy / file.name).symlink_to(bad[name])
            else:
                (copy / file.name).write_bytes(cut[name])
            yield copy


def cases(options, directory):
    """(name, command before, flags) of each start."""
    for flag in ("--kv-cache-bytes=900GiB", "--kv-cache-bytes=16EiB",
                 "--kv-cache-bytes=-1", "--max-batch-tokens=2000000000",
                 "--max-source-tokens=2000000000", "--max-running=2000000000",
                 "--threads=1000000", "--tokenizer-threads=1000000",
                 "--max-queued-requests=2000000000",
                 "--host=256.1.1.1", "--host=192.0.2.1", "--port=70000",
                 "--access-log-file=/dev/full", "--access-log-file=/",
                 "--access-log-file=/proc/none/log"):
        yield flag, "", [flag]
    files = bad_files(directory / "files")
    certificate, key = Certificates(directory).sign("server")
    for name, path in files.items():
        for flag in ("--config=", "--tenants=", "--model=", "--models-dir=",
                     "--access-log-file=", f"--tls-key={key} --tls-cert=",
                     f"--tls-cert={certificate} --tls-key=",
                     f"--tls-cert={certificate} --tls-key={key} "
                     "--tls-client-ca="):
            if flag == "--access-log-file=" and name == "terabyte":
                continue  # it is a file like others
            yield (f"{flag.split(' ')[-1]}{name}", "",
                   f"{flag}{path}".split(" "))
    for model in spoilt_models(directory / "models", options.model):
        yield model.name, "", [f"--model={model}"]
    limits = [*(f"-v {size * 1000}" for size in range(20, 1000, 20)),
              *(f"-v {size * 1000}" for size in range(1000, 4000, 250)),
              *(f"-d {size * 1000}" for size in range(10, 400, 10)),
              *(f"-n {files}" for files in range(3, 72, 3)),
              *(f"-s {size}" for size in (64, 128, 256, 1024)),
              "-l 0", "-f 0", "-c 0", "-t 1"]
    for limit in limits:
        yield f"ulimit {limit}", f"ulimit {limit} || exit 126;", []
    if os.geteuid() == 0:
        user = "setpriv --reuid=65533 --clear-groups"
        for processes in range(1, 64, 3):
            yield (f"ulimit -u {processes}",
                   f"ulimit -u {processes} || exit 126; exec {user}", [])


def unreadable(options, directory):
    """A file of the model that the server's user may not read."""
    model = directory / "unreadable"
    shutil.copytree(options.model, model)
    directory.chmod(0o755)
    (model / "config.json").chmod(0)
    return ("config.json unreadable",
            "exec setpriv --reuid=65533 --clear-groups", [f"--model={model}"])


def left_behind():
    """Processes for templates that no server has."""
    left = set()
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue  # it has ended
        if (re.search("^Name:\tattend-sandbox$", text, re.M) and
                re.search("^PPid:\t1$", text, re.M) and
                not re.search("^State:\tZ", text, re.M)):
            left.add(status.parent.name)
    return left


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--only", default="", help="part of a start's name")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.server = str(pathlib.Path(options.server).resolve())
    options.model = str(pathlib.Path(options.model).resolve())
    counted = collections.Counter()
    wrong, before_all = [], left_behind()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        for part in "files", "models":
            (directory / part).mkdir()
        starts = [*cases(options, directory)]
        if os.geteuid() == 0:
            starts.append(unreadable(options, directory))
        for case, before, flags in starts:
            if options.only not in case:
                continue
            start = Start(options, before, flags)
            end = start.end(answers)
            counted[end if end in ("ready", "failed", "not started")
                    else "wrong"] += 1
            last = (start.log.splitlines() or [""])[-1]
            if options.verbose:
                print(f"{case}: {end}: {last[-150:]}", flush=True)
            if end not in ("ready", "failed", "not started"):
                wrong.append(case)
                print(f"FAIL {case}: {end}\n{start.log}", flush=True)
    time.sleep(1)
    left = left_behind() - before_all
    print(dict(counted))
    print("FAIL" if wrong else "pass", f"starts that went wrong: {wrong}")
    print("FAIL" if left else "pass",
          f"processes left behind: {left or 'none'}")
    sys.exit(1 if wrong or left else 0)


if __name__ == "__main__":
    main()
