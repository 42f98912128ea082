#!/usr/bin/env python3
"""Says which source files of a target a compiler may read as one.

  unity_groups.py MOST <SOURCES

SOURCES has a line for each file: its target, a space and its path. Prints a
number of a group of that target for each. Files of one group do not use names
that another of them has in its unnamed namespace; there are at most MOST.
"""
import collections
import pathlib
import re
import sys

UNNAMED = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.M | re.S)
NOT_CODE = re.compile(r'//.*|R"(\w*)\((?s:.*?)\)\1"|"(?:\\.|[^"\\\n])*"')
MEMBER = re.compile(r"(?:\.|->|::)\s*\w+")
# What a line that is not indented gives a name to.
DECLARED = re.compile(
    r"^(?:(?:struct|class|enum class|enum|union) (\w+)"
    r"|using (\w+) ="
    r"|(?!using |template |TEST|INSTANTIATE)"
    r"[A-Za-z][^\n({=;]*?\b(\w+)(?: = |[({;\[])"
    r"|#define (\w+))", re.M)


class Source:
    def __init__(self, path):
        text = pathlib.Path(path).read_text(encoding="utf-8")
        own = UNNAMED.findall(text) + re.findall(r"^#define \w+", text, re.M)
        # The names of its own with what declares them, and all that it uses.
        self.names = {}
        for found in DECLARED.finditer(NOT_CODE.sub("", "\n".join(own))):
            name = next(group for group in found.groups() if group)
            self.names[name] = found.string[found.start():].split(";", 1)[0]
        self.words = set(
            re.findall(r"\w+", MEMBER.sub("", NOT_CODE.sub("", text))))

    def hides(self, other):
        """Whether a name of this file means another thing in `other`."""
        return any(name in other.words and
                   not (declared.startswith(("using", "namespace"))
                        and other.names.get(name) == declared)
                   for name, declared in self.names.items())


def main():
    most = int(sys.argv[1])
    targets = collections.defaultdict(list)
    for line in sys.stdin.read().splitlines():
        target, path = line.split(" ", 1)
        groups = targets[target]
        source = Source(path)
        place = next((number for number, group in enumerate(groups)
                      if len(group) < most and not any(
                          source.hides(other) or other.hides(source)
                          for other in group)), len(groups))
        groups[place:] = groups[place:] or [[]]
        groups[place].append(source)
        print(place)


main()
