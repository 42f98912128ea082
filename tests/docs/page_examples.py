"""The examples of README.md and docs/: blocks of Python, and commands."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language, pages=PAGES):
    """(page's name, block) of all blocks in a language."""
    return [(page.name, block) for page in pages for block in re.findall(
        rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE)]


def commands(program, pages=PAGES):
    """(page's name, line) of all lines in blocks of shell that call it."""
    return [(page, line) for page, block in blocks("sh", pages)
            for line in block.splitlines() if line.split()[:1] == [program]]
