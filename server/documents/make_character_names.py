#!/usr/bin/env python3
"""Writes character_names.inc: the named character references of HTML.

    server/documents/make_character_names.py

The table is that of the HTML standard, section 13.5, which Python's standard
library has in html.entities.html5.
"""

import html.entities
import pathlib
import textwrap

HEAD = """\
// The named character references of HTML (the standard's section 13.5), by
// name: one or two code points, and whether the name needs no semicolon.
// Written by make_character_names.py.
// clang-format off
"""


def main():
    table = html.entities.html5
    entries = []
    for name in sorted(name[:-1] for name in table if name.endswith(";")):
        codes = [ord(character) for character in table[name + ";"]]
        fields = [f'"{name}"', str(codes[0])]
        legacy = name in table
        if len(codes) > 1 or legacy:
            fields.append(str(codes[1]) if len(codes) > 1 else "0")
        if legacy:
            fields.append("true")
        entries.append("{" + ",\0".join(fields) + "},")
    lines = textwrap.wrap(" ".join(entries), 80, break_on_hyphens=False,
                          break_long_words=False)
    path = pathlib.Path(__file__).with_name("character_names.inc")
    text = HEAD + "\n".join(lines).replace("\0", " ") + "\n"
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
