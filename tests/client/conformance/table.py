"""The table of cases and packages: that of a run, and that in README.md."""

import os
import pathlib
import sys

PAGE = pathlib.Path(__file__).resolve().parent / "README.md"
BEGIN = "<!-- conformance clients -->\n"
END = "<!-- end of conformance clients -->\n"
FINE = ("yes", "no")  # no: it is said not to do so
PACKAGES = ["Python", "Python asyncio", "Go", "Node.js", "Java", "Java async",
            "Rust", "C++"]


def cells(row):
    return [cell.strip() for cell in row.strip("|\n").split("|")]


def in_page():
    """What is before the table, its rows, and what is after it."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    rows, end, after = rest.partition(END)
    if not end:
        raise RuntimeError(f"{PAGE} has no {BEGIN.strip()}")
    return before, rows, after


def of_run(cases, columns, known):
    """`columns` are {package: results}, one of FINE or what is wrong. Cells of packages
    that were not run are as they are `known`."""
    if set(columns) - set(PACKAGES):
        raise ValueError(f"{set(columns) - set(PACKAGES)} are not in PACKAGES")
    head, *_ = known = [cells(row) for row in known.splitlines()] or [[]]
    old = {(row[0], name): cell for row in known
           for name, cell in zip(head[1:], row[1:])}
    rows = [["case", *PACKAGES], ["---"] * (1 + len(PACKAGES))]
    for i, case in enumerate(cases):
        rows.append([case, *(
            old.get((case, name), "not run") if name not in columns
            else columns[name][i] if columns[name][i] in FINE else "NO"
            for name in PACKAGES)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def compare_or_write(cases, columns):
    """Prints the table. With the variable ATTEND_WRITE_CONFORMANCE it is written to
    the page, else: whether it is that of the page."""
    before, known, after = in_page()
    found = of_run(cases, columns, known)
    print(found, end="")
    if os.environ.get("ATTEND_WRITE_CONFORMANCE"):
        PAGE.write_text(before + BEGIN + found + END + after, encoding="utf-8")
    elif found != known:
        print(f"{PAGE} has another table; write it by ATTEND_WRITE_CONFORMANCE=1",
              file=sys.stderr)
        return False
    return True
