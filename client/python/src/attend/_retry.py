"""When a call that failed is made again: the rules of Attend's C++ client.

gRPC's own retries would not do. They end when headers have arrived, and a
server that returns request ids sends headers with every error.
"""

from __future__ import annotations

import logging
import random
import time
from dataclasses import dataclass
from typing import List, Protocol, Tuple, cast

import grpc
from google.protobuf.message import DecodeError

from attend.errors import AttendError, error_of
from attend.v1 import status_details_pb2


Metadata = List[Tuple[str, str]]
LOG = logging.getLogger("attend")
# How grpcio reports a call that was cut in the middle, with several codes. No
# answer of Attend reads like that, nor a call that the client has cancelled.
BROKEN = ("Received RST_STREAM with error code", "Stream removed", "CANCELLED")


@dataclass(frozen=True)
class Retry:
    """How often, and after how many seconds, a call is made again. UNAVAILABLE
    is retried, and connections that break; RESOURCE_EXHAUSTED if the server
    says when. What the server says (RetryInfo, grpc-retry-pushback-ms) takes
    the place of the backoff."""

    max_attempts: int = 4  # the first included; of a stream: in vain
    initial_backoff: float = 0.1  # doubles
    max_backoff: float = 2.0
    # A stream that breaks off is made again, too, and goes on where it ended.
    resume: bool = True
    # Calls (not streams) without an answer after so many seconds are sent once
    # more, in most cases to another server; the first answer counts. Well above
    # what most calls take. At most about a third of the calls.
    hedge_after: float | None = None


class Attempts:
    """The attempts of one call, which share its timeout."""

    def __init__(self, retry: Retry, timeout: float | None) -> None:
        self._retry = retry
        self._end = None if timeout is None else time.monotonic() + timeout
        self._made = 0
        self._sent = 0

    def metadata(self, of_call: Metadata) -> Metadata:
        """Of the next attempt, which says how many there were before."""
        self._sent += 1
        before = [("grpc-previous-rpc-attempts", f"{self._sent - 1}")]
        return [*of_call, *(before if self._sent > 1 else ())]

    def timeout(self) -> float | None:
        """Seconds that are left."""
        if self._end is None:
            return None
        return max(0.0, self._end - time.monotonic())

    def pause(self, failed: grpc.RpcError, begun: bool = False,
              went_on: bool = False) -> float:
        """Seconds before the next attempt. Raises the error if there is none.
        `begun`: it is a stream of which something has been seen; `went_on`: by
        this attempt, so that those before it count no more."""
        self._made = 1 if went_on else self._made + 1
        error, again = _read(failed)
        pause = error.retry_after
        if pause is None:
            # A float ends at 2.0 ** 1024.
            doubled = 2.0 ** min(self._made - 1, 60)
            backoff = self._retry.initial_backoff * doubled
            pause = min(backoff, self._retry.max_backoff)
            pause *= random.uniform(0.8, 1.2)
        left = self.timeout()
        if (not again or (begun and not self._retry.resume)
                or self._made >= self._retry.max_attempts
                or (left is not None and pause >= left)):
            raise error from failed
        LOG.info("made again in %.3f s: %s", pause, error)
        return pause


class _Failed(Protocol):
    """What the errors of grpc and grpc.aio both have."""

    def code(self) -> grpc.StatusCode: ...
    def details(self) -> str | None: ...
    def trailing_metadata(self) -> object: ...


def _read(failed: grpc.RpcError) -> tuple[AttendError, bool]:
    """The error, and whether the call may be made again."""
    call = cast(_Failed, failed)
    trailers = dict(cast("list[tuple[str, str | bytes]]",
                         call.trailing_metadata() or []))
    pushback = _pushback(trailers.get("grpc-retry-pushback-ms"))
    forbidden = pushback is not None and pushback < 0
    after = None if forbidden else pushback
    if after is None and not forbidden:
        after = _retry_delay(trailers.get("grpc-status-details-bin"))
    again = not forbidden and (
        call.code() == grpc.StatusCode.UNAVAILABLE
        or (call.details() or "").startswith(BROKEN)
        or (call.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
            and after is not None))
    return error_of(call.code(), call.details() or "", after), again


def _pushback(value: str | bytes | None) -> float | None:
    """In seconds. Negative: do not retry; so is what is no number (gRPC A6)."""
    if value is None:
        return None
    try:
        return int(value) / 1000
    except ValueError:
        return -1.0


def _retry_delay(value: str | bytes | None) -> float | None:
    """Of the google.rpc.RetryInfo in a google.rpc.Status, in seconds."""
    if not isinstance(value, bytes):
        return None
    try:
        status = status_details_pb2.StatusDetails.FromString(value)
        for detail in status.details:
            if detail.type_url.endswith("/google.rpc.RetryInfo"):
                info = status_details_pb2.RetryInfo.FromString(detail.value)
                return max(0.0, info.retry_delay.ToNanoseconds() / 1e9)
    except DecodeError:
        pass  # the details are not ours; the code and the message are
    return None
