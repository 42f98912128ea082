"""What a protocol promises, shown by clients that others wrote. A table in docs/
has a row for each thing that is shown; the run of the tests makes the table.

A page holds the table between two comments:

    <!-- conformance NAME -->
    <!-- end of conformance NAME -->

A module of tests has a Table, marks tests by its row(), and ends with its main().
"""

import contextlib
import functools
import inspect
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = ["| call | client | shown | result |", "|---|---|---|---|"]


@contextlib.contextmanager
def recorded(row):
    try:
        yield
    except unittest.SkipTest:
        raise
    except BaseException:
        row[3] = "failed"
        raise
    row[3] = "passed"


class Table:
    """The rows of one protocol, in the order of the tests' definition."""

    def __init__(self, page, name):
        self.path = ROOT / "docs" / page
        self.marks = [f"<!-- conformance {name} -->",
                      f"<!-- end of conformance {name} -->"]
        self.rows = []  # [call, client, shown, result]; no result: not run

    def row(self, call, client, shown):
        """Marks a test: if it passes, `client` has shown something of `call`."""
        def mark(test):
            entry = [call, client, shown, None]
            self.rows.append(entry)
            if inspect.iscoroutinefunction(test):
                @functools.wraps(test)
                async def run(*args):
                    with recorded(entry):
                        await test(*args)
            else:
                @functools.wraps(test)
                def run(*args):
                    with recorded(entry):
                        test(*args)
            return run
        return mark

    def committed(self):
        page = self.path.read_text(encoding="utf-8")
        before, _, rest = page.partition(self.marks[0] + "\n")
        lines, _, after = rest.partition(self.marks[1])
        if not after:
            raise RuntimeError(f"{self.path} has no {self.marks[0]}")
        return before, lines.splitlines(), after

    def lines(self):
        """The table. What this machine cannot run stays as it is committed."""
        known = {line.rpartition(" | ")[0]: line
                 for line in self.committed()[1]}
        lines = list(HEAD)
        for *cells, result in self.rows:
            start = "| " + " | ".join(cells)
            lines.append(known.get(start, f"{start} | not run |")
                         if result is None else f"{start} | {result} |")
        return lines

    def write(self):
        before, _, after = self.committed()
        lines = "\n".join(self.lines())
        self.path.write_text(
            f"{before}{self.marks[0]}\n{lines}\n{self.marks[1]}{after}",
            encoding="utf-8")

    def main(self):
        """Runs the tests of the main module. With the variable
        ATTEND_WRITE_CONFORMANCE writes the table, else compares it."""
        program = unittest.main(exit=False, verbosity=2)
        if not program.result.wasSuccessful():
            sys.exit(1)
        if os.environ.get("ATTEND_WRITE_CONFORMANCE"):
            self.write()
        elif self.committed()[1] != self.lines():
            print(f"{self.path} has another table; write it by",
                  "ATTEND_WRITE_CONFORMANCE=1", *sys.orig_argv, sep=" ")
            print("\n".join(self.lines()))
            sys.exit(1)
