"""Bulk work: a result or an error for each row, in order, by many calls at
once. attend.ray and attend.spark are made from it."""

from __future__ import annotations

import collections
import concurrent.futures
import threading
import time
from typing import (
    Any, Callable, Generator, Iterable, Mapping, Sequence, Union)

import grpc

from attend import _calls
from attend._client import Client
from attend._retry import Retry
from attend.errors import AttendError, error_of

# A server that restarts, or whose queue is full, is waited for as long as the
# timeout of a call says.
PATIENT = Retry(max_attempts=2**31, max_backoff=10.0)
TIMEOUT = 600.0  # seconds
# Of one input in a batch: says nothing of the row, which is sent again.
PASSING = {grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE}
# The row is the reason.
OF_A_ROW = {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.INTERNAL}
# Of a whole call: one of its rows may be the reason. A message that is too long
# is RESOURCE_EXHAUSTED.
DIVISIBLE = OF_A_ROW | {grpc.StatusCode.RESOURCE_EXHAUSTED}
PAUSE = 1.0  # seconds, before rows are sent again

# What a method returns for the row; None for a row that is null.
Row = Union[Any, AttendError, None]


class Pending:
    """Rows whose calls run."""

    def __init__(self, size: int, places: Sequence[int],
                 calls: Sequence[concurrent.futures.Future[list[Row]]],
                 cancelled: threading.Event) -> None:
        self._size, self._places, self._calls = size, places, calls
        self._cancelled = cancelled

    def wait(self) -> list[Row]:
        """A result, an AttendError or None for each row. Raises the AttendError
        of a call that failed for no reason of a row."""
        rows: list[Row] = [None] * self._size
        try:
            found = [row for call in self._calls for row in call.result()]
        except BaseException:
            self.cancel()
            raise
        for place, row in zip(self._places, found):
            rows[place] = row
        return rows

    def cancel(self) -> None:
        """Calls that have not begun are not made, and those that run are not
        made again."""
        self._cancelled.set()
        for call in self._calls:
            call.cancel()


class Rows:
    """Computes rows by one method of attend.Client. Threads may share it, and
    then share the calls that are under way."""

    def __init__(self, method: str, target: str | Sequence[str] | None = None,
                 *, inputs_per_call: int = 32, calls: int = 16,
                 client: Mapping[str, Any] | None = None,
                 **options: Any) -> None:
        """
        target, client: the first and the other arguments of attend.Client.
        inputs_per_call, calls: rows of a call, and calls at the same time.
        options: of the method. A call's `timeout` (600 s) is also how long
            servers are waited for that cannot be reached or are full.
        """
        check(method, inputs_per_call, calls, options)
        self._inputs_per_call = inputs_per_call
        self._options = {"timeout": TIMEOUT, **options}
        self._client = Client(target, **{"retry": PATIENT, **(client or {})})
        self._method: Callable[..., Any] = getattr(self._client, method)
        self._threads = concurrent.futures.ThreadPoolExecutor(
            calls, thread_name_prefix="attend-rows")

    def close(self) -> None:
        """Ends the calls that run."""
        self._client.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def start(self, values: Sequence[str | None]) -> Pending:
        """Starts the calls for some rows. None and NaN are null rows, for which
        there is none. Raises TypeError for what is no text."""
        places, texts = [], []
        for place, value in enumerate(values):
            if isinstance(value, str):
                places.append(place)
                texts.append(value)
            elif not _is_null(value):
                raise TypeError(f"row {place} is a {type(value).__name__}, "
                                "must be text or null")
        step = self._inputs_per_call
        cancelled = threading.Event()
        return Pending(len(values), places, [
            self._threads.submit(self._compute, texts[at:at + step], cancelled)
            for at in range(0, len(texts), step)], cancelled)

    def stream(self, batches: Iterable[Any],
               texts_of: Callable[[Any], Sequence[str | None]],
               ) -> Generator[tuple[Any, list[Row]], None, None]:
        """Yields each batch with its rows. The calls of the next batch run
        before those of a batch have ended, so that servers are kept busy. If
        it ends early, by an error or by close(), they are cancelled."""
        begun: collections.deque[tuple[Any, Pending]] = collections.deque()
        try:
            for batch in batches:
                begun.append((batch, self.start(texts_of(batch))))
                if len(begun) > 1:
                    yield begun[0][0], begun[0][1].wait()
                    begun.popleft()
            for batch, pending in begun:
                yield batch, pending.wait()
        finally:
            for _, pending in begun:
                pending.cancel()

    def _compute(self, texts: list[str],
                 cancelled: threading.Event) -> list[Row]:
        """Sends again those rows that a full queue refused."""
        end = time.monotonic() + (self._options["timeout"] or float("inf"))
        rows: list[Row] = [None] * len(texts)
        places = list(range(len(texts)))
        while True:
            found = self._call([texts[place] for place in places], cancelled)
            _raise_if_of_the_call(found)
            for place, row in zip(places, found):
                rows[place] = row
            places = [place for place in places if _passes(rows[place])]
            if not places:
                return rows
            refused = rows[places[0]]
            if time.monotonic() + PAUSE > end and refused is not None:
                raise refused
            if cancelled.wait(PAUSE):
                raise concurrent.futures.CancelledError

    def _call(self, texts: list[str],
              cancelled: threading.Event) -> list[Row]:
        if cancelled.is_set():
            raise concurrent.futures.CancelledError
        try:
            return _one_each(self._method(texts, **self._options), texts)
        except UnicodeEncodeError as error:  # half of a surrogate pair
            failed = error_of(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        except AttendError as error:
            if error.results:
                return _one_each(_checked(error.results), texts)
            # The client has waited for a server that says when to come again.
            if error.code not in DIVISIBLE or error.retry_after is not None:
                raise
            failed = error
        if len(texts) == 1:
            return [failed]
        half = len(texts) // 2
        return (self._call(texts[:half], cancelled)
                + self._call(texts[half:], cancelled))


def check(method: str, inputs_per_call: int, calls: int,
          options: Mapping[str, Any]) -> None:
    """Raises ValueError or TypeError for arguments that Rows cannot have."""
    for name, value in (("inputs_per_call", inputs_per_call), ("calls", calls)):
        if value < 1:
            raise ValueError(f"{name} is {value}, must be at least 1")
    getattr(_calls, method)([], options)


def _one_each(results: Sequence[Row], texts: list[str]) -> list[Row]:
    if len(results) != len(texts):
        raise error_of(grpc.StatusCode.INTERNAL, f"a call of {len(texts)} "
                       f"inputs has {len(results)} results")
    return list(results)


def _checked(results: Sequence[Row]) -> Sequence[Row]:
    for row in results:
        if isinstance(row, AttendError) and row.code not in OF_A_ROW | PASSING:
            raise row
    return results


def _raise_if_of_the_call(rows: Sequence[Row]) -> None:
    """A call that was divided down to its rows: if each of them is refused, and
    in the same words, what they share is wrong: the task, a parameter."""
    first = rows[0]
    if len(rows) > 1 and isinstance(first, AttendError) and all(
            isinstance(row, AttendError) and row.index is None
            and (row.code, row.message) == (first.code, first.message)
            for row in rows):
        raise first


def _passes(row: Row) -> bool:
    """A status of one input has its index; that of a whole call has none."""
    return (isinstance(row, AttendError) and row.code in PASSING
            and row.index is not None)


def _is_null(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)
