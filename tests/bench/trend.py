#!/usr/bin/env python3
"""Measures a small fixed set beside the peers, and appends a line to trend.jsonl.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/trend.py

takes some ten minutes on two cores, which nothing else should use. The line has
the commit, the CPU with its class, and how many times as fast as a peer Attend
is: of translation.py, encoders.py and continuations.py, in int8.
docs/make_trend.py draws all lines.

Times of different days do not compare, as machines differ; times as fast as a peer
on the same machine in the same minutes do.
"""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

from harness import attend_processes, machine

HERE = pathlib.Path(__file__).resolve().parent
LINES = HERE / "trend.jsonl"
# A CPU's class is the first of these that it has.
CLASSES = (("amx_int8", "AMX"), ("avx512_vnni", "AVX-512 VNNI"), ("avx2", "AVX2"))


def class_of(cpu):
    return next((name for flag, name in CLASSES if flag in cpu["flags"]), "other")


def commit():
    """That of the working tree, which has to have no changes."""
    def git(*arguments):
        return subprocess.run(["git", "-C", HERE, *arguments], check=True,
                              capture_output=True, text=True).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no", ":/",
                  f":!{LINES}")
    if changed:
        sys.exit(f"not a commit, as these files differ:\n{changed}")
    return git("rev-parse", "--short=8", "HEAD")


def rows_of(script, *arguments):
    """The rows of a script that writes JSON; what it tells meanwhile is shown."""
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        to_file = script == "continuations.py"
        command = [sys.executable, HERE / script, "--json",
                   *([result.name] if to_file else []), *arguments]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                                 text=True).stdout
        answer = pathlib.Path(result.name).read_text() if to_file else printed
    return json.loads(answer)["rows"]


def measure(args):
    """Workload -> times as fast as the peer."""
    build = ["--build", args.build, *(f"--flag={flag}" for flag in args.flag)]
    times = {}
    for row in rows_of("translation.py", *build, "--only",
                       "greedy,beam4,encoder", "--dtypes", "int8"):
        times[f"OPUS-MT {row['workload']}"] = row["times_faster"]
    for row in rows_of("encoders.py", *build, "--shapes", "minilm",
                       "--workloads", "mixed", "equal", "--dtypes", "int8"):
        times[f"MiniLM {row['workload']}"] = row["times_faster"]
    for row in rows_of("continuations.py", *build, "--peers", "CTranslate2",
                       "--dtypes", "int8"):
        if not row["peer"].startswith("itself"):
            times[f"SmolLM2-135M {row['workload']}"] = row["times_faster"]
    return {workload: round(value, 3) for workload, value in times.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    attend_processes.add_options(parser)
    args = parser.parse_args()
    cpu = machine.cpu()
    line = {"commit": commit(), "date": datetime.date.today().isoformat(),
            "class": class_of(cpu), "cpu": machine.describe(cpu, False),
            "times_faster": measure(args)}
    with LINES.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(line) + "\n")
    print(json.dumps(line, indent=1))


if __name__ == "__main__":
    main()
