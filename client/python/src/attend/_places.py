"""Paths and URIs of files: local ones, and those of storages."""

from __future__ import annotations

import os
import posixpath
import urllib.parse
import uuid
from typing import Any

import pyarrow.fs

UNDER_WAY = ".tmp"  # ends the name of a file that is being written
IN_A_URI = "!$&'()*+,;=:@"  # stand for themselves in a name


def absolute(path: str) -> str:
    """A worker has another directory. URIs stay as they are."""
    return path if "://" in path else os.path.abspath(path)


def open_place(path: str) -> tuple[Any, str]:
    """The file system of a path or URI, and the path in it."""
    found: tuple[Any, str] = pyarrow.fs.FileSystem.from_uri(absolute(path))
    return found


def name_of(path: str) -> str:
    """The last part. A URI's `?options` are none of it."""
    if "://" in path:
        path = urllib.parse.unquote(path.partition("?")[0])
    return posixpath.basename(path)


def join(folder: str, name: str) -> str:
    """The path or URI of a file in the folder, before a URI's `?options`."""
    if "://" not in folder:
        return posixpath.join(folder, name)
    place, mark, options = folder.partition("?")
    name = urllib.parse.quote(name, IN_A_URI)
    return posixpath.join(place, name) + mark + options


def is_same(one: tuple[Any, str], other: tuple[Any, str]) -> bool:
    """Whether two results of open_place() are one file."""
    if not one[0].equals(other[0]):
        return False
    if isinstance(one[0], pyarrow.fs.LocalFileSystem):
        return os.path.realpath(one[1]) == os.path.realpath(other[1])
    return one[1] == other[1]


def under_way(place: str) -> str:
    """A name of which no other writer has the same."""
    return f"{place}.{uuid.uuid4().hex}{UNDER_WAY}"


def put(files: Any, written: str, place: str) -> None:
    """Gives a complete file its name. On a local disk it has it, and all bytes,
    after a loss of power, too; other storages see to that themselves."""
    is_local = isinstance(files, pyarrow.fs.LocalFileSystem)
    if is_local:
        _to_disk(written)
    files.move(written, place)
    if is_local:
        _to_disk(os.path.dirname(place))


def _to_disk(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
