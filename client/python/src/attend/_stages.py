"""Stages: rows of a column become rows of a new one, batch by batch."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import (
    TYPE_CHECKING, Any, Generator, Iterable, Literal, Mapping, Sequence)

import numpy

from attend import _rows
from attend._local_server import LocalServer
from attend._rows import Row, Rows
from attend.errors import AttendError

if TYPE_CHECKING:
    import pyarrow

    from typing_extensions import Self

# Arguments of a client that mean TLS.
TLS = ("tls", "ca", "cert", "key", "server_name")


@dataclasses.dataclass(frozen=True)
class Server:
    """Each actor of a stage has a server of its own, which ends with it.

    model: a path that each node has, or what else --model takes.
    flags: more flags of attend-server.
    threads: that compute, and CPUs that an actor reserves. None: all CPUs but
        one of the node that has the fewest.
    program: attend-server, in the PATH of each node.
    """

    model: str
    flags: Sequence[str] = ()
    threads: int | None = None
    program: str = "attend-server"

    def command(self) -> list[str]:
        threads = [] if self.threads is None else [f"--threads={self.threads}"]
        return [self.program, f"--model={self.model}", *threads, *self.flags]


class Stage:
    """For Dataset.map_batches of Ray, with the batch formats "pyarrow" and
    "numpy". A row that is null stays null. Threads may share it."""

    METHOD, OUTPUT = "", ""

    def __init__(self, server: str | Sequence[str] | Server | None = None, *,
                 column: str = "text", output: str | None = None,
                 errors: Literal["raise", "column"] = "raise",
                 inputs_per_call: int = 32, calls: int = 16,
                 client: Mapping[str, Any] | None = None,
                 **options: Any) -> None:
        """
        server: addresses, as the first argument of attend.Client, or a Server.
        column, output: names of the column with texts, and of the new one.
        errors: "raise": a row that fails ends the job. "column": its result is
            null, and the column {output}_error says why; else that is null.
        inputs_per_call, calls: rows of a call, and calls at the same time.
        client: more arguments of attend.Client.
        options: of the client's method. `timeout` is 600 s by default, and is
            also how long servers are waited for.
        """
        self.check(column=column, output=output, errors=errors,
                   inputs_per_call=inputs_per_call, calls=calls, **options)
        self.column = column
        self.output, *more = self.columns(output, errors)
        self.error_column = more[0] if more else None
        self._server: LocalServer | None = None

        def made(target: str | Sequence[str] | None,
                 client: Mapping[str, Any] | None) -> Rows:
            return Rows(self.METHOD, target, client=client, calls=calls,
                        inputs_per_call=inputs_per_call, **options)

        if not isinstance(server, Server):
            self._rows = made(server, client)
            return
        self._server = LocalServer(server.command())
        try:
            self._rows = made(self._server.address, _direct(client))
        except BaseException:
            self._server.close()
            raise
        self._server.on_failure = self._rows.close

    @classmethod
    def check(cls, *, column: str = "text", output: str | None = None,
              errors: str = "raise", inputs_per_call: int = 32,
              calls: int = 16, client: Mapping[str, Any] | None = None,
              **options: Any) -> None:
        """Raises ValueError or TypeError for arguments that are wrong: a job
        finds them before it has actors."""
        if errors not in ("raise", "column"):
            raise ValueError(f"errors is '{errors}', must be raise or column")
        if column in cls.columns(output, errors):
            raise ValueError(f"'{column}' is the column of the texts and a new "
                             "one")
        _rows.check(cls.METHOD, inputs_per_call, calls, options)

    @classmethod
    def columns(cls, output: str | None = None,
                errors: str = "raise") -> list[str]:
        """The names of the new columns."""
        output = output or cls.OUTPUT
        return [output, *([f"{output}_error"] if errors == "column" else [])]

    def close(self) -> None:
        """Ends calls that run, and the server if it is the stage's own."""
        self._rows.close()
        if self._server is not None:
            self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, batch: Any) -> Any:
        """The batch with the new columns."""
        made, = self.stream([batch])
        return made

    def stream(self, batches: Iterable[Any]) -> Generator[Any, None, None]:
        """Yields each batch with the new columns. Calls of the next batch run
        already."""
        try:
            with contextlib.closing(
                    self._rows.stream(batches, self._texts)) as computed:
                for batch, rows in computed:
                    yield self._with_columns(batch, rows)
        except Exception as error:
            if self._server is not None and self._server.failure is not None:
                raise RuntimeError(self._server.failure) from error
            raise

    def value(self, result: Any) -> Any:
        """What of a result is the row of the new column."""
        raise NotImplementedError

    def _texts(self, batch: Any) -> Sequence[str | None]:
        if not (isinstance(batch, dict) or hasattr(batch, "append_column")):
            raise TypeError(f"a batch is a {type(batch).__name__}, must be a "
                            "dict or an Arrow table: the batch format is "
                            "'numpy' or 'pyarrow'")
        names = batch if isinstance(batch, dict) else batch.column_names
        there = [name for name in (self.output, self.error_column)
                 if name in names]
        if self.column not in names or there:
            reason = (f"has '{there[0]}' already" if there
                      else f"has no '{self.column}'")
            raise ValueError("the table with the columns "
                             f"{', '.join(map(repr, names))} {reason}")
        values = batch[self.column]
        texts: list[str | None] = (
            values.to_pylist() if hasattr(values, "to_pylist")
            else list(values))
        return texts

    def _with_columns(self, batch: Any, rows: list[Row]) -> Any:
        failed = [isinstance(row, AttendError) for row in rows]
        if any(failed) and self.error_column is None:
            raise _named(rows[failed.index(True)], failed.index(True))
        values = [None if row is None or bad else self.value(row)
                  for row, bad in zip(rows, failed)]
        errors = [f"{row.code.name}: {row.message}" if
                  isinstance(row, AttendError) else None for row in rows]
        if isinstance(batch, dict):
            made = {**batch, self.output: self.array(values)}
            if self.error_column:
                made[self.error_column] = _objects(errors)
            return made
        import pyarrow

        table = batch.append_column(self.output, self.arrow(values))
        if self.error_column:
            table = table.append_column(
                self.error_column, pyarrow.array(errors, pyarrow.string()))
        return table

    def array(self, values: list[Any]) -> Any:
        return _objects(values)

    def arrow(self, values: list[Any]) -> pyarrow.Array:
        import pyarrow

        return pyarrow.array(values, pyarrow.string())


class Translate(Stage):
    """Documents of any number of sentences: attend.Client.translate."""

    METHOD, OUTPUT = "translate", "translation"

    def value(self, result: Any) -> str:
        return str(result.text)


class Generate(Stage):
    """Texts, prompts or single sentences: attend.Client.generate."""

    METHOD, OUTPUT = "generate", "generation"

    def value(self, result: Any) -> str:
        return str(result.text)


class Embed(Stage):
    """A vector of f32 for each text: attend.Client.embed."""

    METHOD, OUTPUT = "embed", "embedding"

    def value(self, result: Any) -> Any:
        return result.reshape(-1)

    def array(self, values: list[Any]) -> Any:
        if values and all(value is not None for value in values):
            return numpy.stack(values)
        return _objects(values)

    def arrow(self, values: list[Any]) -> pyarrow.Array:
        """Lists of any length, as a batch may have no vector that says it."""
        import pyarrow

        return pyarrow.array(values, pyarrow.list_(pyarrow.float32()))


def addresses(server: Any) -> Any:
    """The server, or what $ATTEND_ADDRESS says here, where a job is started:
    its workers may have another environment."""
    if server is None:
        return os.environ.get("ATTEND_ADDRESS") or None
    return server


def _direct(client: Mapping[str, Any] | None) -> dict[str, Any]:
    """Calls of the own server go past a proxy that the environment names, and
    without TLS, unless it is asked for by an argument."""
    given = dict(client or {})
    if not any(given.get(name) for name in TLS):
        given["tls"] = False
    return {**given, "channel_options": [
        ("grpc.enable_http_proxy", 0), *given.get("channel_options", ())]}


def _objects(values: list[Any]) -> Any:
    """numpy would make a table of vectors, and text of None."""
    array = numpy.empty(len(values), object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def _named(error: Row, place: int) -> AttendError:
    """The error, with its place in the batch. It leaves the other results: they
    would travel with it."""
    assert isinstance(error, AttendError)
    error.index, error.results = place, []
    return error
