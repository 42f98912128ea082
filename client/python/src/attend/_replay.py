"""A stream that is made again begins anew: what has been seen is left out."""

from __future__ import annotations

import random
from typing import Any, Mapping

import grpc

from attend.errors import error_of


class Replay:
    """The text of a stream, which may have been made several times. Results are
    the same each time, whatever else the servers do, if they are not sampled;
    see with_seed()."""

    def __init__(self) -> None:
        self._seen = ""
        self._at = 0  # the length of the current attempt's text

    @property
    def begun(self) -> bool:
        return bool(self._seen)

    def again(self) -> None:
        """The next part is the first of a new attempt."""
        self._at = 0

    def new(self, part: str) -> str:
        """What of the next part has not been seen. Raises Unavailable if the
        text is not what it was: another version of the model, perhaps."""
        known = self._seen[self._at:self._at + len(part)]
        self._at += len(part)
        if not part.startswith(known):
            raise error_of(grpc.StatusCode.UNAVAILABLE, "the stream broke off, "
                           "and has another text when it is made again")
        self._seen += part[len(known):]
        return part[len(known):]


def with_seed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Draws the seed here that the server would draw, so that a second attempt
    has the same. It does nothing where results are not sampled."""
    return {"seed": random.getrandbits(63), **options}
