"""Files as tables of their rows, some at a time."""

from __future__ import annotations

import io
import json
from typing import Any, Iterable, Iterator

import pyarrow
import pyarrow.fs
import pyarrow.json
import pyarrow.parquet

from attend._places import name_of, open_place

ROWS = 4096  # of a table
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
# Bytes that Arrow reads at once: at least a row, and less than 2 GiB.
BLOCK, LARGEST_BLOCK = 1 << 20, (1 << 31) - 1


def read(path: str, column: str) -> Iterator[pyarrow.Table]:
    """Yields the rows of a file, some at a time, and one empty table if it has
    none. Text has a row a line, in the column."""
    name = without(name_of(path), COMPRESSED)
    readers = {".parquet": _parquet, ".jsonl": _json_lines, ".txt": _lines}
    for end, reader in readers.items():
        if name.endswith(end):
            try:
                yield from reader(*open_place(path), column)
            except (pyarrow.ArrowInvalid, UnicodeDecodeError,
                    json.JSONDecodeError) as error:
                raise ValueError(f"{path}: {error}") from error
            except OSError as error:
                raise OSError(f"{path}: {error}") from error
            return
    raise ValueError(f"the name of '{path}' must end with one of "
                     f"{', '.join(readers)}")


def check_columns(path: str, column: str, made: Iterable[str]) -> None:
    """Raises ValueError if a file lacks the column of the texts, or has one of
    those that are made."""
    table = next(read(path, column))
    if column not in table.column_names:
        raise ValueError(f"{path} has no column '{column}'")
    for name in made:
        if name in table.column_names:
            raise ValueError(f"{path} has a column '{name}' already")


def without(name: str, ends: Iterable[str]) -> str:
    for end in ends:
        if name.endswith(end):
            return name[:-len(end)]
    return name


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
    table = _parsed(text, {column: pyarrow.string()})
    # Arrow makes times of texts that look like them.
    kept = {field.name: _with_texts(field.type) for field in table.schema}
    if kept != {field.name: field.type for field in table.schema}:
        table = _parsed(text, kept)
    # The column was asked for, so it is there: null, if no row has it.
    if table[column].null_count == table.num_rows and not _has(text, column):
        table = table.drop_columns([column])
    for at in range(0, table.num_rows, ROWS):
        yield table.slice(at, ROWS)


def _parsed(text: bytes, types: dict[str, pyarrow.DataType]) -> pyarrow.Table:
    table = pyarrow.json.read_json(
        io.BytesIO(text),
        read_options=pyarrow.json.ReadOptions(
            block_size=min(max(BLOCK, len(text)), LARGEST_BLOCK)),
        parse_options=pyarrow.json.ParseOptions(
            explicit_schema=pyarrow.schema(list(types.items()))))
    table.validate(full=True)  # Arrow does not look whether text is UTF-8
    return table


def _with_texts(kind: pyarrow.DataType) -> pyarrow.DataType:
    """The type with text in the place of times."""
    if pyarrow.types.is_timestamp(kind):
        return pyarrow.string()
    if pyarrow.types.is_list(kind):
        return pyarrow.list_(_with_texts(kind.value_type))
    if pyarrow.types.is_struct(kind):
        return pyarrow.struct([
            (field.name, _with_texts(field.type)) for field in kind])
    return kind


def _has(text: bytes, column: str) -> bool:
    """Whether a row has the key. Rows may have line ends between their parts,
    as Arrow takes them."""
    decoder = json.JSONDecoder()
    rows = text.decode("utf-8-sig").strip()
    at = 0
    while at < len(rows):
        row, at = decoder.raw_decode(rows, at)
        if column in row:
            return True
        while rows[at:at + 1].isspace():
            at += 1
    return False


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
