#!/usr/bin/env python3
"""Writes docs/api/LANGUAGE.md from the programs in client/examples.

    docs/make_examples.py            writes the pages
    docs/make_examples.py --check    fails if a page is stale

A line "== NAME" in a comment begins the lines of the call NAME, and "== end" what
is not shown. The lines before the first one are how a program begins.
"""

import argparse
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "client/examples"
# Each language: its name, its program, the name of its colours, and files that
# are shown whole.
LANGUAGES = {
    "curl": ("curl", "run.sh", "sh", []),
    "python": ("Python", "calls.py", "python", ["run.sh"]),
    "node": ("Node.js", "calls.mjs", "js", ["run.sh"]),
    "go": ("Go", "calls.go", "go", ["run.sh", "go.mod"]),
    "java": ("Java", "src/main/java/Calls.java", "java", ["run.sh", "pom.xml"]),
    "rust": ("Rust", "src/main.rs", "rust", ["run.sh", "Cargo.toml", "build.rs"]),
}
COLOURS = {".sh": "sh", ".mod": "go", ".xml": "xml", ".toml": "toml", ".rs": "rust"}
MARK = re.compile(r"^\s*(?:#|//) == (\w+)\n", re.MULTILINE)


def method_names():
    """Of the service Attend, in its order."""
    proto = (ROOT / "proto/attend/v1/attend.proto").read_text(encoding="utf-8")
    service = re.search(r"^service Attend \{\n(.*?)^\}", proto,
                        re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^  rpc (\w+)\(", service, re.MULTILINE)


def block(colour, text):
    return f"```{colour}\n{textwrap.dedent(text).strip()}\n```\n"


def page(language):
    title, program, colour, files = LANGUAGES[language]
    folder = EXAMPLES / language
    head, *parts = MARK.split((folder / program).read_text(encoding="utf-8"))
    calls = dict(zip(parts[::2], parts[1::2]))
    missing = {*method_names(), "Errors"} - set(calls)
    if missing:
        raise ValueError(f"{folder / program}: no {', '.join(sorted(missing))}")
    lines = [
        f"# {title}\n",
        "<!-- Written by docs/make_examples.py; edit the program. -->\n",
        f"Every call of [`attend.v1`](../api.md), in a program that runs: "
        f"`client/examples/{language}`.\nThe server of the "
        "[README](../../README.md#call-it) answers all but `Classify`, `FillMask`, "
        "`Answer` and\n`Rerank`, which are skipped where no model has the task: "
        "[Models to try](../models.md#models-to-try).\n"]
    if files:
        lines.append("## Run it\n")
    for name in files:
        text = (folder / name).read_text(encoding="utf-8")
        if name != "run.sh":
            lines.append(f"`{name}`:\n")
        lines.append(block(COLOURS[pathlib.Path(name).suffix],
                           text.removeprefix("#!/bin/sh\n")))
    lines += ["## Begin\n", block(colour, head.removeprefix("#!/bin/sh\n"))]
    for name in (*method_names(), "Errors"):
        lines += [f"## {name}\n", block(colour, calls[name])]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for language in LANGUAGES:
        path = ROOT / f"docs/api/{language}.md"
        if not options.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(page(language), encoding="utf-8")
        elif path.read_text(encoding="utf-8") != page(language):
            sys.exit(f"docs/api/{path.name} is not what the program says: run "
                     "docs/make_examples.py")


if __name__ == "__main__":
    main()
