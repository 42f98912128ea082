"""How another thread ends a call of the client that waits for its answers."""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any, Callable

import grpc

from attend.errors import error_of


class Cancellation:
    """Given to calls and streams as `cancellation`: after cancel() they end with
    attend.errors.Cancelled, in a pause between two attempts, too. Those that
    begin later are not made. May be given to any number of calls. Thread-safe,
    but not for handlers of signals.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # of what is below
        self._cancelled = threading.Event()
        # Of gRPC. Those that have ended stay until nobody has them.
        self._calls: weakref.WeakSet[Any] = weakref.WeakSet()

    def cancel(self) -> None:
        with self._lock:
            self._cancelled.set()
            calls = list(self._calls)
        for call in calls:
            call.cancel()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def _started(self, start: Callable[..., Any], *given: Any,
                 **named: Any) -> Any:
        self._pause(0)
        call = start(*given, **named)
        with self._lock:
            self._calls.add(call)
        if self.cancelled:
            call.cancel()
        return call

    def _pause(self, seconds: float) -> None:
        if self._cancelled.wait(seconds):
            raise error_of(grpc.StatusCode.CANCELLED,
                           "cancelled before the call, or its next attempt")


def started(cancellation: Cancellation | None, start: Callable[..., Any],
            *given: Any, **named: Any) -> Any:
    """A call of gRPC, which the cancellation ends. Raises Cancelled if that has
    been before."""
    if cancellation is None:
        return start(*given, **named)
    return cancellation._started(start, *given, **named)


def sleep(cancellation: Cancellation | None, seconds: float) -> None:
    """Raises Cancelled as soon as that is so."""
    if cancellation is None:
        time.sleep(seconds)
    else:
        cancellation._pause(seconds)


def answer_of(call: Any, timeout: float | None = None) -> Any:
    """The answer of a call that was started. One that was cancelled raises an
    RpcError, as others that fail, where gRPC's result() does not."""
    try:
        return call.result(timeout)
    except grpc.FutureCancelledError:
        raise call from None
