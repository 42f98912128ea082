"""What calls that begin alike have in common, so that they go to one server."""

from __future__ import annotations

import hashlib
from typing import Any

HEADER = "x-attend-affinity"


def affinity_key(request: Any, size: int) -> str | None:
    """Of the first `size` bytes of what a request asks about first; None if it
    asks about nothing."""
    for field in ("inputs", "documents", "pairs", "texts", "query"):
        value = getattr(request, field, None)
        if value:
            first = value if isinstance(value, str) else value[0]
            begin = _text(getattr(first, "source", first))[:size]
            # As the packages of other languages do.
            return hashlib.sha256(begin).hexdigest()[:16]
    return None


def elsewhere(metadata: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """For a call that its own server does not answer: another key. One in N
    goes to the same of N servers."""
    return [(name, f"{value}-2" if name == HEADER else value)
            for name, value in metadata]


def _text(source: Any) -> bytes:
    """Of a text or an attend.v1.Input."""
    if isinstance(source, str):
        return source.encode()
    if source.HasField("chat"):
        return "\0".join(f"{message.role}\0{message.content}"
                         for message in source.chat.messages).encode()
    if source.HasField("tokens"):
        return " ".join(map(str, source.tokens.ids)).encode()
    return str(source.text).encode()
