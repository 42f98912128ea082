"""Checks that every file of tests/field is a table of rows that a test reads.

    python3 tests/field_rows_check.py SOURCE_DIR
"""

import json
import pathlib
import re
import sys


def problems(root):
    """Yields one line for each file that has no rows or no reader."""
    field = root / "tests" / "field"
    read = set()
    for source in (root / "tests").rglob("*_test.*"):
        text = source.read_text(encoding="utf-8")
        read.update(re.findall(r'FieldRows\(\s*"(\w+)"\s*\)', text))
        read.update(re.findall(r'field_rows\(\s*"(\w+)"\s*\)', text))
    readme = (field / "README.md").read_text(encoding="utf-8")
    for path in sorted(field.glob("*.json")):
        rows = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(rows, list) or not rows:
            yield f"{path.name}: expected a list of rows"
        elif not all(isinstance(row, dict) and row.get("case") for row in rows):
            yield f"{path.name}: a row has no case"
        elif len({row["case"] for row in rows}) != len(rows):
            yield f"{path.name}: two rows have the same case"
        if path.stem not in read:
            yield f"{path.name}: no test reads it"
        if f"`{path.name}`" not in readme:
            yield f"{path.name}: README.md does not list it"


def main():
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    sys.exit(1 if found else 0)


main()
