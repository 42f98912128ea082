"""Bulk work: a result or an error for each row, in order, by many calls at
once. attend.ray and attend.spark are made from it."""

from __future__ import annotations

import concurrent.futures
import time
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence, Union

import grpc

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
                 calls: Sequence[concurrent.futures.Future[list[Row]]]) -> None:
        self._size, self._places, self._calls = size, places, calls

    def wait(self) -> list[Row]:
        """A result, an AttendError or None for each row. Raises the AttendError
        of a call that failed for no reason of a row."""
        rows: list[Row] = [None] * self._size
        try:
            found = [row for call in self._calls for row in call.result()]
        except BaseException:
            for call in self._calls:
                call.cancel()
            raise
        for place, row in zip(self._places, found):
            rows[place] = row
        return rows


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
        for name, value in (("inputs_per_call", inputs_per_call),
                            ("calls", calls)):
            if value < 1:
                raise ValueError(f"{name} is {value}, must be at least 1")
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
        return Pending(len(values), places, [
            self._threads.submit(self._compute, texts[at:at + step])
            for at in range(0, len(texts), step)])

    def stream(self, batches: Iterable[Any],
               texts_of: Callable[[Any], Sequence[str | None]],
               ) -> Iterator[tuple[Any, list[Row]]]:
        """Yields each batch with its rows. The calls of the next batch run
        before those of a batch have ended, so that servers are kept busy."""
        previous: tuple[Any, Pending] | None = None
        for batch in batches:
            current = (batch, self.start(texts_of(batch)))
            if previous is not None:
                yield previous[0], previous[1].wait()
            previous = current
        if previous is not None:
            yield previous[0], previous[1].wait()

    def _compute(self, texts: list[str]) -> list[Row]:
        """Sends again those rows that a full queue refused."""
        end = time.monotonic() + (self._options["timeout"] or float("inf"))
        rows: list[Row] = [None] * len(texts)
        places = list(range(len(texts)))
        while True:
            found = self._call([texts[place] for place in places])
            for place, row in zip(places, found):
                rows[place] = row
            places = [place for place in places if _passes(rows[place])]
            if not places:
                return rows
            refused = rows[places[0]]
            if time.monotonic() + PAUSE > end and refused is not None:
                raise refused
            time.sleep(PAUSE)

    def _call(self, texts: list[str]) -> list[Row]:
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
        return self._call(texts[:half]) + self._call(texts[half:])


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


def _passes(row: Row) -> bool:
    """A status of one input has its index; that of a whole call has none."""
    return (isinstance(row, AttendError) and row.code in PASSING
            and row.index is not None)


def _is_null(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)
