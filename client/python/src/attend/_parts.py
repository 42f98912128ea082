"""Files that become files: each has its result when it is there, and only then.
A job that begins again computes those that are missing."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import os
import posixpath
import uuid
from typing import Any, Callable, Iterable, Iterator, Mapping

import pyarrow
import pyarrow.fs
import pyarrow.json
import pyarrow.parquet

MANIFEST = "_attend.json"
UNDER_WAY = ".tmp"  # ends the name of a file that is being written
ROWS = 4096  # of a batch
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


@dataclasses.dataclass(frozen=True)
class Part:
    source: str
    target: str


@dataclasses.dataclass(frozen=True)
class Plan:
    """missing: parts that have no result yet; done: how many have."""

    folder: str
    missing: list[Part]
    done: int


def plan(inputs: Iterable[str], folder: str,
         settings: Mapping[str, Any]) -> Plan:
    """Makes the folder, and a manifest in it, unless they are there. Raises
    ValueError if the folder was begun with other settings, an input has changed
    since, or two inputs would have one result."""
    inputs = [_uri(path) for path in inputs]
    folder = _uri(folder)
    files, place = pyarrow.fs.FileSystem.from_uri(folder)
    files.create_dir(place, recursive=True)
    targets = _targets(inputs, folder)
    _agree(files, posixpath.join(place, MANIFEST), folder,
           {"settings": json.loads(json.dumps(settings, default=repr)),
            "bytes": {targets[path]: _size(path) for path in inputs}})
    there = {info.base_name for info in files.get_file_info(
        pyarrow.fs.FileSelector(place))}
    missing = [Part(path, posixpath.join(folder, targets[path]))
               for path in inputs if targets[path] not in there]
    return Plan(folder, missing, len(inputs) - len(missing))


def clean(folder: str) -> None:
    """Removes what tasks that were killed have left."""
    files, place = pyarrow.fs.FileSystem.from_uri(_uri(folder))
    for info in files.get_file_info(pyarrow.fs.FileSelector(place)):
        if info.base_name.endswith(UNDER_WAY):
            files.delete_file(info.path)


def convert(part: Part, column: str,
            stream: Callable[[Iterable[pyarrow.Table]],
                             Iterator[pyarrow.Table]]) -> int:
    """Writes the part's result, whole or not at all. Returns its rows."""
    files, place = pyarrow.fs.FileSystem.from_uri(part.target)
    under_way = f"{place}.{uuid.uuid4().hex}{UNDER_WAY}"
    try:
        with files.open_output_stream(under_way) as out:
            rows = _write(out, stream(read(part.source, column)))
        files.move(under_way, place)
    except BaseException:
        if files.get_file_info(under_way).type == pyarrow.fs.FileType.File:
            files.delete_file(under_way)
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


def read(path: str, column: str) -> Iterator[pyarrow.Table]:
    """Yields the rows of a file, some at a time, and one empty table if it has
    none. Text has a row a line, in the column."""
    name = _without(path, COMPRESSED)
    readers = {".parquet": _parquet, ".jsonl": _json_lines, ".txt": _lines}
    for end, reader in readers.items():
        if name.endswith(end):
            files, place = pyarrow.fs.FileSystem.from_uri(_uri(path))
            try:
                yield from reader(files, place, column)
            except (pyarrow.ArrowInvalid, UnicodeDecodeError) as error:
                raise ValueError(f"{path}: {error}") from error
            except OSError as error:
                raise OSError(f"{path}: {error}") from error
            return
    raise ValueError(f"the name of '{path}' must end with one of "
                     f"{', '.join(readers)}")


def _parquet(files: Any, place: str, column: str) -> Iterator[pyarrow.Table]:
    with files.open_input_file(place) as source:
        file = pyarrow.parquet.ParquetFile(source)
        empty = True
        for batch in file.iter_batches(ROWS):
            empty = False
            yield pyarrow.Table.from_batches([batch])
        if empty:
            yield file.schema_arrow.empty_table()


def _json_lines(files: Any, place: str,
                column: str) -> Iterator[pyarrow.Table]:
    with files.open_input_stream(place, compression="detect") as source:
        text = source.read()
    if not text.strip():
        yield _texts([], column)
        return
    # Without a type, texts that look like dates would be dates. With one, a
    # column that is not there would be null.
    table = pyarrow.json.read_json(
        io.BytesIO(text), parse_options=pyarrow.json.ParseOptions(
            explicit_schema=pyarrow.schema([(column, pyarrow.string())])))
    if json.dumps(column).encode() not in text:
        table = table.drop_columns([column])
    for at in range(0, table.num_rows, ROWS):
        yield table.slice(at, ROWS)


def _lines(files: Any, place: str, column: str) -> Iterator[pyarrow.Table]:
    lines: list[str] = []
    empty = True
    with files.open_input_stream(place, compression="detect") as source:
        # A carriage return alone ends no line.
        for line in io.TextIOWrapper(source, encoding="utf-8", newline="\n"):
            lines.append(line.rstrip("\n"))
            if len(lines) == ROWS:
                yield _texts(lines, column)
                lines, empty = [], False
    if lines or empty:
        yield _texts(lines, column)


def _texts(lines: list[str], column: str) -> pyarrow.Table:
    return pyarrow.table({column: pyarrow.array(lines, pyarrow.string())})


def _targets(inputs: Iterable[str], folder: str) -> dict[str, str]:
    """{input: name of its result}"""
    targets: dict[str, str] = {}
    sources: dict[str, str] = {}
    for path in inputs:
        name = posixpath.basename(_without(path, COMPRESSED))
        target = f"{name.rpartition('.')[0] or name}.parquet"
        if target in sources:
            raise ValueError(f"'{sources[target]}' and '{path}' would both be "
                             f"{posixpath.join(folder, target)}")
        sources[target] = path
        targets[path] = target
    return targets


def _without(path: str, ends: Iterable[str]) -> str:
    for end in ends:
        if path.endswith(end):
            return path[:-len(end)]
    return path


def _size(path: str) -> int:
    files, place = pyarrow.fs.FileSystem.from_uri(_uri(path))
    info = files.get_file_info(place)
    if info.type != pyarrow.fs.FileType.File:
        raise FileNotFoundError(f"there is no file '{path}'")
    return int(info.size)


def _uri(path: str) -> str:
    """from_uri takes no relative paths; a worker has another directory."""
    return path if "://" in path else os.path.abspath(path)


def _agree(files: Any, place: str, folder: str, wanted: dict[str, Any]) -> None:
    """Writes the manifest. Inputs may come to those that it has."""
    if files.get_file_info(place).type == pyarrow.fs.FileType.File:
        with files.open_input_stream(place) as source:
            begun = _manifest(source.read(), place)
        wanted["bytes"] = {**begun["bytes"], **wanted["bytes"]}
        for group in wanted:
            _compare(folder, begun[group], wanted[group], group == "bytes")
    _write_whole(files, place, json.dumps(wanted, indent=1).encode())


def _manifest(text: bytes, place: str) -> dict[str, dict[str, Any]]:
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


def _write_whole(files: Any, place: str, text: bytes) -> None:
    under_way = f"{place}.{uuid.uuid4().hex}{UNDER_WAY}"
    with files.open_output_stream(under_way) as out:
        out.write(text)
    files.move(under_way, place)
