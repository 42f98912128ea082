"""English texts of natural lengths: sentences, and paragraphs of the documents."""

import random

from harness import attend_processes

SENTENCES = attend_processes.ROOT / "tests/golden/en-de/sentences.en"
DOCS = attend_processes.ROOT / "docs"
KINDS = ("sentences", "paragraphs")


def _paragraphs(page):
    """Prose and lists, without headings, tables and code."""
    for block in page.read_text(encoding="utf-8").split("\n\n"):
        if block[:1].isalpha() or block[:1] == "*":
            yield " ".join(block.split())


def texts(kind, seed=3):
    """All texts of a kind, in an order that mixes their sources."""
    if kind == "sentences":
        found = SENTENCES.read_text(encoding="utf-8").splitlines()
    else:
        found = [paragraph for page in sorted(DOCS.glob("*.md"))
                 for paragraph in _paragraphs(page)]
    found = sorted({text for text in found if text.strip()})
    random.Random(seed).shuffle(found)
    return found
