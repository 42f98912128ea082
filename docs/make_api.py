#!/usr/bin/env python3
"""Writes docs/api.md from the comments of proto/attend/v1/attend.proto.

    docs/make_api.py [--protoc PROTOC]            writes the page
    docs/make_api.py [--protoc PROTOC] --check    fails if the page is stale

protoc parses the file and writes a FileDescriptorSet with source positions. This
script reads the few fields that it needs itself, so no Python package is
required.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROTO = "attend/v1/attend.proto"
PAGE = ROOT / "docs/api.md"
INTRODUCTION = f"""# API

<!-- Written by docs/make_api.py from proto/{PROTO}; edit that. -->

The services `attend.v1.Attend` and `attend.v1.Admin`, as
[`{PROTO}`](../proto/{PROTO}) defines them.
Complete example programs: [curl](api/curl.md), [Python](api/python.md),
[Node.js](api/node.md), [Go](api/go.md), [Java](api/java.md) and
[Rust](api/rust.md).

"""

# Numbers of fields in descriptor.proto.
FILE_MESSAGES, FILE_ENUMS, FILE_SERVICES, FILE_SOURCE = 4, 5, 6, 9
MESSAGE_FIELDS, MESSAGE_NESTED, MESSAGE_OPTIONS, MESSAGE_ONEOFS = 2, 3, 7, 8
FIELD_NUMBER, FIELD_LABEL, FIELD_TYPE, FIELD_TYPE_NAME = 3, 4, 5, 6
FIELD_ONEOF, FIELD_OPTIONAL = 9, 17
LABEL_REPEATED = 3
TYPES = {1: "double", 2: "float", 4: "uint64", 5: "int32", 8: "bool",
         9: "string", 12: "bytes", 3: "int64", 13: "uint32"}


def read(data):
    """A message of the wire format: field number -> its values, in order."""
    fields, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            value = varint()
        elif tag & 7 == 2:
            length = varint()
            value = data[at:at + length]
            at += length
        else:
            raise ValueError(f"wire type {tag & 7}")
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def packed(data):
    """Varints one after the other."""
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    return tuple(values)


def text(fields, number):
    return fields[number][0].decode() if number in fields else ""


class Page:
    def __init__(self, descriptor):
        self.file = read(descriptor)
        # Path of a definition (field numbers and indices) -> its comment.
        self.comments = {}
        for place in read(self.file[FILE_SOURCE][0])[1]:
            location = read(place)
            comment = text(location, 3) or text(location, 4)
            if comment:
                path = packed(location[1][0]) if 1 in location else ()
                self.comments[path] = re.sub(r"(?m)^ ", "", comment).strip()
        self.names = {text(read(definition), 1)
                      for kind in (FILE_MESSAGES, FILE_ENUMS)
                      for definition in self.file[kind]}
        self.lines = []

    def comment(self, path):
        """As Markdown."""
        # What is spelled in code stays as it is.
        parts = re.split(r"(`[^`]*`)", self.comments.get(tuple(path), ""))
        parts[::2] = map(self.format, parts[::2])
        return "".join(parts)

    def format(self, prose):
        """Names of fields and values become code, names of messages links."""
        prose = re.sub(r"([<>*])", r"\\\1", prose)
        prose = re.sub(r"\b([a-z]+(_[a-z0-9]+)+(\.json)?|[A-Z]+(_[A-Z0-9]+)+)\b",
                       r"`\1`", prose)
        return re.sub(r"\b[A-Z][a-z]+[A-Z]\w+\b",
                      lambda name: self.link(f".attend.v1.{name.group()}")
                      if name.group() in self.names else name.group(), prose)

    def cell(self, *paths):
        found = "\n\n".join(filter(None, map(self.comment, paths)))
        paragraphs = re.split(r"\n\s*\n", found)
        joined = "<br>".join(" ".join(p.split()) for p in paragraphs)
        return joined.replace("|", "\\|")

    def link(self, type_name):
        package, name = type_name.rsplit(".", 1)
        if package == ".attend.v1":
            return f"[{name}](#{name.lower()})"
        return f"`{type_name[1:]}`"

    def type_of(self, field, message):
        if FIELD_TYPE_NAME not in field:
            name = TYPES[field[FIELD_TYPE][0]]
        else:
            type_name = text(field, FIELD_TYPE_NAME)
            for nested in map(read, message.get(MESSAGE_NESTED, [])):
                if type_name.endswith("." + text(nested, 1)):  # a map's entry
                    key, value = map(read, nested[MESSAGE_FIELDS])
                    return (f"map of {self.type_of(key, nested)} to "
                            f"{self.type_of(value, nested)}")
            name = self.link(type_name)
        if field[FIELD_LABEL][0] == LABEL_REPEATED:
            return f"list of {name}"
        return f"optional {name}" if FIELD_OPTIONAL in field else name

    def add_service(self, service, path):
        name = text(service, 1)
        comment = self.comment(path)
        self.lines += [
            "## Calls" if name == "Attend" else f"## Calls of `{name}`", ""]
        if comment:
            self.lines += [comment, ""]
        self.lines += ["| call | request | answer | description |",
                       "|---|---|---|---|"]
        for index, method in enumerate(map(read, service[2])):
            answer = self.link(text(method, 3))
            if 6 in method:
                answer = f"stream of {answer}"
            self.lines.append(
                f"| `{text(method, 1)}` | {self.link(text(method, 2))} "
                f"| {answer} | {self.cell([*path, 2, index])} |")

    def add_heading(self, name, path):
        self.lines += ["", f"### {name}"]
        comment = self.comment(path)
        if comment:
            self.lines += ["", comment]

    def add_message(self, message, path):
        self.add_heading(text(message, 1), path)
        if MESSAGE_FIELDS not in message:
            self.lines += ["", "It has no fields."]
            return
        oneofs = [text(read(oneof), 1)
                  for oneof in message.get(MESSAGE_ONEOFS, [])]
        seen = set()
        self.lines += ["", "| field | type | meaning |", "|---|---|---|"]
        for index, field in enumerate(map(read, message[MESSAGE_FIELDS])):
            group = None
            if FIELD_ONEOF in field and FIELD_OPTIONAL not in field:
                group = field[FIELD_ONEOF][0]
            if group is not None and group not in seen:
                seen.add(group)
                self.lines.append(
                    f"| *{oneofs[group]}* | one of the next "
                    f"| {self.cell([*path, MESSAGE_ONEOFS, group])} |")
            dash = "" if group is None else "– "
            self.lines.append(
                f"| {dash}`{text(field, 1)}` | {self.type_of(field, message)} "
                f"| {self.cell([*path, MESSAGE_FIELDS, index])} |")

    def add_enum(self, enum, path):
        self.add_heading(text(enum, 1), path)
        self.lines += ["", "| value | meaning |", "|---|---|"]
        for index, value in enumerate(map(read, enum[2])):
            self.lines.append(f"| `{text(value, 1)}` "
                              f"| {self.cell([*path, 2, index])} |")

    def write(self):
        """The whole page: messages and enumerations in the file's order."""
        package = 2
        self.lines += [self.comment([package]), ""]
        for index, service in enumerate(map(read, self.file[FILE_SERVICES])):
            self.add_service(service, [FILE_SERVICES, index])
            self.lines.append("")
        self.lines += ["## Messages"]
        places = {tuple(packed(location[1][0])): packed(location[2][0])[0]
                  for location in map(read, read(self.file[FILE_SOURCE][0])[1])
                  if 1 in location}
        definitions = [(places[(kind, index)], add, read(data), [kind, index])
                       for kind, add in ((FILE_MESSAGES, self.add_message),
                                         (FILE_ENUMS, self.add_enum))
                       for index, data in enumerate(self.file[kind])]
        for _, add, definition, path in sorted(definitions,
                                               key=lambda entry: entry[0]):
            add(definition, path)
        return INTRODUCTION + "\n".join(self.lines) + "\n"


def descriptor(protoc):
    with tempfile.TemporaryDirectory() as directory:
        output = pathlib.Path(directory) / "set"
        subprocess.run([protoc, f"-I{ROOT / 'proto'}", "--include_source_info",
                        "-o", output, PROTO], check=True)
        return read(output.read_bytes())[1][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--protoc", default="protoc")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    page = Page(descriptor(options.protoc)).write()
    if not options.check:
        PAGE.write_text(page, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page:
        sys.exit(f"{PAGE.name} is not what the proto says: run "
                 "docs/make_api.py")


if __name__ == "__main__":
    main()
