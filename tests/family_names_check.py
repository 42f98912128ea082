#!/usr/bin/env python3
"""Checks that what computes a transformer knows no family of models.

    tests/family_names_check.py [ROOT]

A family is a table in engine/families; what it needs and the others do not is a
field of TransformerSpec. Its name in one of the folders below, even in a
comment, is the first sign of a special case.
"""

import pathlib
import re
import sys

FOLDERS = ("engine/transformer", "engine/layers", "engine/decoding")
WORDS = {"new"}  # names of families that are words of C++, too


def families(root):
    text = (root / "engine/families/load_family.cc").read_text(encoding="utf-8")
    names = re.findall(r'\{"([a-z0-9_-]+)", Load\w+\}', text)
    if not names:
        sys.exit("no families found in engine/families/load_family.cc")
    return names


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    # "xlm-roberta", "m2m_100": with any of the usual ways to join the parts.
    spellings = [re.sub(r"[_-]", "[-_ ]?", name) for name in families(root)
                 if name not in WORDS]
    pattern = re.compile(rf"(?<![a-z])({'|'.join(spellings)})(?![a-z])",
                         re.IGNORECASE)
    found = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            lines = path.read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines, 1):
                match = pattern.search(line)
                if match:
                    found += 1
                    print(f"{path.relative_to(root)}:{number}: {match.group()}")
    print(f"family names: {found} found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
