#!/usr/bin/env python3
"""Checks that prose uses complete sentences and the field's standard terms.

    tests/prose_check.py [ROOT]            fails if a text has a banned turn
    tests/prose_check.py [ROOT] --list     prints every finding
    tests/prose_check.py [ROOT] --lower    lowers the counts of prose_counts.json

Reads README.md, CONTRIBUTING.md, docs/*.md, and the comments of .proto, .h, .cc
and .inc files. prose_counts.json holds the number of findings that a page or a folder
of code may still have: a count only falls, and a text that it does not name has
none.
"""

import argparse
import collections
import json
import pathlib
import re
import sys

COUNTS = "tests/prose_counts.json"
CODE = ("client", "command_line", "engine", "proto", "server", "tests")
# A clause that stands for a noun ("What is left is dropped.") or a displaced
# genitive ("Of memory others may have more.") at the start of a sentence, an
# item or a cell. Questions and "How to ..." are not meant.
OPENER = re.compile(r"(?:Of|What|Whether|Those|Which|Who|Whose|How(?! to\b))\b",
                    re.IGNORECASE)
TURNS = [re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE) for pattern in (
    r"beside",                           # in addition to, alongside
    r"anew",                             # again
    r"(?:goes|go|going|went) on",        # continues
    r"(?:is|are|was|were|be) mended",    # fixed
    r"taken up",                         # resumed
    r"whoever|who(?:so)?ever",           # any client that
    r"so (?:many|much) (?!as\b)\w+ (?:may|must|can)",  # up to N
    r"but for",                          # except
    r"the same with (?:them|it)",        # name the thing
    # After, at the end of; a server stands behind a proxy.
    r"behind(?! (?:(?:a|an|the|one|several|its) )?(?:[\w-]+ )?"
    r"(?:prox|balanc|NAT|firewall|gateway|ingress))",
    r"(?:numbers|number) of (?:the matrix|a vector|one vector|a row)",  # values
    r"(?:in|of|with) other numbers",     # dtype
    r"whose numbers",                    # values, elements
    r"(?:is|are|to) spread(?= by| and|,|\.)",  # rotated
    r"(?:precise|spared) (?:columns?|rows?)",  # residual columns, cached rows
    r"(?:in|as|of) (?:fours|pairs of bf16)",   # VNNI layout
)] + [re.compile(r"(?:[,;:] else\b(?! if)|(?<!thing)(?<!one)(?<!body)(?<!where)"
                 r" else[.,;])")]              # otherwise


def sentences(text):
    """Splits a paragraph; a question keeps its mark."""
    return re.split(r"(?<=[.!?:])\s+(?=[A-Z])", text.strip())


def findings(text):
    """Yields each banned turn of a paragraph, item or cell."""
    for sentence in sentences(text):
        if not sentence.rstrip().endswith("?"):
            opener = OPENER.match(sentence)
            if opener:
                yield sentence[:60]
        for turn in TURNS:
            for match in turn.finditer(sentence):
                yield sentence[max(0, match.start() - 20):match.end() + 20]


def paragraphs_of_page(page):
    """Yields (line, text): paragraphs, items, headings and cells, no code."""
    # Tables of conformance have the words of the tests. Line numbers stay.
    page = re.sub(r"(?ms)^```.*?^```|<!-- (conformance .*?)-->.*?"
                  r"<!-- end of \1-->|<!--.*?-->",
                  lambda block: "\n" * block.group().count("\n"), page)
    start, text = 0, []
    for number, line in enumerate(page.split("\n") + [""], 1):
        ends = not line.strip() or re.match(r"\s*(?:[*-]|\d+\.|#+|\|)\s*", line)
        if ends and text:
            yield start, " ".join(text)
            text = []
        if line.lstrip().startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line):
                for paragraph in cell.split("<br>"):
                    yield number, plain(paragraph)
        elif line.strip():
            if not text:
                start = number
            text.append(plain(re.sub(r"^\s*(?:[*-]|\d+\.|#+)\s+", "", line)))


def plain(markdown):
    """Text without marks; code becomes a word."""
    markdown = re.sub(r"`[^`]*`", "X", markdown)
    markdown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"\*\*|(?<!\\)[*_](?=\w)|(?<=\w)[*_](?!\w)", "",
                  markdown).strip()


def paragraphs_of_code(source):
    """Yields (line, text): blocks of // lines, and // after code."""
    start, text = 0, []
    for number, line in enumerate(source.split("\n") + [""], 1):
        whole = re.match(r"\s*///?(?: |$)(.*)", line)
        if text and (not whole or not whole[1].strip()
                     or whole[1].lstrip().startswith("- ")):
            yield start, " ".join(text)
            text = []
        if whole:
            if whole[1].strip():
                if not text:
                    start = number
                text.append(plain(re.sub(r"^\s*- ", "", whole[1])))
        else:
            after = re.search(r"[;{},)]\s+// (.*)$", line)
            if after:
                yield number, plain(after[1])


def texts(root):
    """Yields (key in the counts, path, paragraphs) of all texts."""
    pages = [root / "README.md", root / "CONTRIBUTING.md",
             *sorted((root / "docs").glob("*.md"))]
    for path in filter(pathlib.Path.exists, pages):
        name = str(path.relative_to(root))
        yield name, path, paragraphs_of_page(path.read_text(encoding="utf-8"))
    for folder in CODE:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc", ".inc", ".proto"):
                parts = path.relative_to(root).parts
                key = "/".join(parts[:min(2, len(parts) - 1)])
                source = path.read_text(encoding="utf-8")
                yield key, path, paragraphs_of_code(source)


def search(root):
    """Returns a map from a key to its findings, as lines to print."""
    found = collections.defaultdict(list)
    for key, path, paragraphs in texts(root):
        for line, text in paragraphs:
            for turn in findings(text):
                found[key].append(f"{path.relative_to(root)}:{line}: {turn}")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", nargs="?", default=".", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--lower", action="store_true")
    options = parser.parse_args()
    root = options.root.resolve()
    counts = json.loads((root / COUNTS).read_text(encoding="utf-8"))
    found = search(root)
    failed = False
    for key, lines in sorted(found.items()):
        if options.list or len(lines) > counts.get(key, 0):
            print("\n".join(lines))
        if len(lines) > counts.get(key, 0):
            failed = True
            print(f"{key}: {len(lines)} found, {counts.get(key, 0)} allowed")
    if options.lower:
        lower = {key: min(count, len(found[key]))
                 for key, count in counts.items() if found[key]}
        (root / COUNTS).write_text(json.dumps(lower, indent=2) + "\n",
                                   encoding="utf-8")
    print(f"prose: {sum(map(len, found.values()))} found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
