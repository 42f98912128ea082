"""What a call raises: one class for each code of gRPC that the server uses."""

from __future__ import annotations

from typing import Any

import grpc


class AttendError(Exception):
    """A call failed, or one of its inputs.

    code: a grpc.StatusCode.
    message: names what is wrong, its value and the limit.
    retry_after: seconds after which the server wants to see the call again;
        None: it does not say.
    index: which of the call's inputs failed; None: the whole call.
    results: if an input failed, a result or an AttendError for each input, so
        that the others are not lost. Else empty.
    """

    def __init__(self, code: grpc.StatusCode, message: str,
                 retry_after: float | None = None) -> None:
        super().__init__(code, message, retry_after)
        self.code = code
        self.message = message
        self.retry_after = retry_after
        self.index: int | None = None
        self.results: list[Any] = []

    def __str__(self) -> str:
        place = "" if self.index is None else f"input {self.index}: "
        return f"{self.code.name}: {place}{self.message}"


class Cancelled(AttendError):
    """The call was cancelled, or its answers were not read for too long."""


class InvalidArgument(AttendError):
    """A field is wrong; the message names it."""


class DeadlineExceeded(AttendError):
    """The timeout passed, in the queue or while running."""


class NotFound(AttendError):
    """There is no such model, or the tenant may not use it."""


class PermissionDenied(AttendError):
    """The call is for administrators, and the tenant is none."""


class ResourceExhausted(AttendError):
    """The queue is full, or the tenant has reached a limit."""


class Internal(AttendError):
    """A bug of the server, or a model whose numbers are not finite."""


class Unavailable(AttendError):
    """No server can be reached, or it is draining."""


class Unauthenticated(AttendError):
    """The server wants another token."""


_CLASSES = {
    grpc.StatusCode.CANCELLED: Cancelled,
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArgument,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDenied,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhausted,
    grpc.StatusCode.INTERNAL: Internal,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
}
_CODES: dict[int, grpc.StatusCode] = {
    code.value[0]: code for code in grpc.StatusCode}


def error_of(code: grpc.StatusCode | int, message: str,
             retry_after: float | None = None) -> AttendError:
    """The error of a code, which may be a number."""
    if isinstance(code, int):
        code = _CODES.get(code, grpc.StatusCode.UNKNOWN)
    return _CLASSES.get(code, AttendError)(code, message, retry_after)
