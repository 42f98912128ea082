"""Files that become files: each has its result when it is there, and only then.
A job that begins again computes those that are missing."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import posixpath
import re
from typing import Any, Callable, Generator, Iterable, Iterator, Mapping

import pyarrow
import pyarrow.fs
import pyarrow.parquet

from attend._places import (
    UNDER_WAY, absolute, is_same, join, name_of, open_place, put, under_way)
from attend._tables import COMPRESSED, read, without

MANIFEST = "_attend.json"
RESULT = ".parquet"
LEFT = re.compile(rf"(.*{re.escape(RESULT)}|{re.escape(MANIFEST)})"
                  rf"\.[0-9a-f]{{32}}{re.escape(UNDER_WAY)}", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Part:
    source: str
    target: str


@dataclasses.dataclass(frozen=True)
class Plan:
    """missing: parts that have no result yet; done: how many have; manifest:
    what is to be written before the first of them is computed."""

    folder: str
    missing: list[Part]
    done: int
    manifest: dict[str, Any]


def plan(inputs: Iterable[str], folder: str,
         settings: Mapping[str, Any]) -> Plan:
    """Writes nothing. Raises ValueError if results are there that were made
    with other settings, of inputs that have changed since, or by something
    else; if two inputs would have one result, or one would be its own."""
    inputs = [absolute(path) for path in inputs]
    folder = absolute(folder)
    targets = _targets(inputs, folder)
    wanted = {"settings": json.loads(json.dumps(settings, default=repr)),
              "bytes": _sizes(targets, folder)}
    begun = _begun(folder)
    there = _results(folder, {*targets.values(), *begun["bytes"]})
    for name in targets.values():
        if name in there and name not in begun["bytes"]:
            raise ValueError(f"{join(folder, name)} is there, but {MANIFEST} "
                             "does not say that a job has made it")
    if there:
        wanted["bytes"] = {**begun["bytes"], **wanted["bytes"]}
        for group in wanted:
            _compare(folder, begun[group], wanted[group], group == "bytes")
    missing = [Part(path, join(folder, targets[path]))
               for path in inputs if targets[path] not in there]
    return Plan(folder, missing, len(inputs) - len(missing), wanted)


def begin(planned: Plan) -> None:
    """Makes the folder, and writes the manifest."""
    files, place = open_place(planned.folder)
    files.create_dir(place, recursive=True)
    files, place = open_place(join(planned.folder, MANIFEST))
    written = under_way(place)
    with files.open_output_stream(written) as out:
        out.write(json.dumps(planned.manifest, indent=1).encode())
    put(files, written, place)


def clean(folder: str) -> None:
    """Removes what tasks that were killed have left."""
    files, place = open_place(folder)
    for info in files.get_file_info(
            pyarrow.fs.FileSelector(place, allow_not_found=True)):
        if (LEFT.fullmatch(info.base_name)
                and info.type == pyarrow.fs.FileType.File):
            files.delete_file(info.path)


def convert(part: Part, column: str,
            stream: Callable[[Iterable[pyarrow.Table]],
                             Generator[pyarrow.Table, None, None]]) -> int:
    """Writes the part's result, whole or not at all. Returns its rows."""
    files, place = open_place(part.target)
    written = under_way(place)
    try:
        with contextlib.closing(stream(read(part.source, column))) as tables:
            with files.open_output_stream(written) as out:
                rows = _write(out, tables)
        put(files, written, place)
    except BaseException:
        if files.get_file_info(written).type == pyarrow.fs.FileType.File:
            files.delete_file(written)
        raise
    return rows


def _write(out: Any, tables: Iterator[pyarrow.Table]) -> int:
    """At least one table. Returns their rows."""
    first = next(tables)
    rows = 0
    with pyarrow.parquet.ParquetWriter(out, first.schema) as writer:
        for table in itertools.chain([first], tables):
            writer.write_table(table)
            rows += table.num_rows
    return rows


def _targets(inputs: Iterable[str], folder: str) -> dict[str, str]:
    """{input: name of its result}"""
    targets: dict[str, str] = {}
    sources: dict[str, str] = {}
    for path in inputs:
        name = without(name_of(path), COMPRESSED)
        target = f"{name.rpartition('.')[0] or name}{RESULT}"
        if target in sources:
            raise ValueError(f"'{sources[target]}' and '{path}' would both be "
                             f"{join(folder, target)}")
        sources[target] = path
        targets[path] = target
    return targets


def _sizes(targets: Mapping[str, str], folder: str) -> dict[str, int]:
    """{name of a result: bytes of its input}"""
    files, place = open_place(folder)
    sizes = {}
    for path, target in targets.items():
        source = open_place(path)
        if is_same(source, (files, posixpath.join(place, target))):
            raise ValueError(f"the result of '{path}' would take its place: "
                             "the folder must be another one")
        info = source[0].get_file_info(source[1])
        if info.type != pyarrow.fs.FileType.File:
            raise FileNotFoundError(f"there is no file '{path}'")
        sizes[target] = int(info.size)
    return sizes


def _results(folder: str, names: set[str]) -> set[str]:
    """Those of the names that files have which are not empty."""
    files, place = open_place(folder)
    found = set()
    for info in files.get_file_info(
            pyarrow.fs.FileSelector(place, allow_not_found=True)):
        if info.base_name not in names:
            continue
        if info.type != pyarrow.fs.FileType.File:
            raise ValueError(f"{join(folder, info.base_name)} is no file")
        if info.size:
            found.add(info.base_name)
    return found


def _begun(folder: str) -> dict[str, dict[str, Any]]:
    """What the folder's manifest says, of nothing if there is none."""
    files, place = open_place(join(folder, MANIFEST))
    if files.get_file_info(place).type == pyarrow.fs.FileType.NotFound:
        return {"settings": {}, "bytes": {}}
    with files.open_input_stream(place) as source:
        text = source.read()
    try:
        found: dict[str, dict[str, Any]] = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    for group in ("settings", "bytes"):
        if not (isinstance(found, dict)
                and isinstance(found.get(group), dict)):
            raise ValueError(f"{place} has no object '{group}'")
    return found


def _compare(folder: str, begun: dict[str, Any], wanted: dict[str, Any],
             may_grow: bool) -> None:
    for name in sorted(begun if may_grow else {**begun, **wanted}):
        if begun.get(name) != wanted.get(name):
            raise ValueError(
                f"{folder} was begun with {name}={begun.get(name)!r}, not "
                f"{wanted.get(name)!r}")
