"""The trace that a call belongs to, as W3C's metadata."""

from __future__ import annotations

from typing import Callable


def _load() -> Callable[[dict[str, str]], None]:
    try:
        from opentelemetry.trace.propagation.tracecontext import (
            TraceContextTextMapPropagator)
    except ImportError:
        return lambda carrier: None
    propagator = TraceContextTextMapPropagator()
    return lambda carrier: propagator.inject(carrier)


_inject = _load()


def trace_metadata(traceparent: str | None) -> list[tuple[str, str]]:
    """Of the caller's `traceparent`, else of OpenTelemetry's current span."""
    if traceparent is not None:
        return [("traceparent", traceparent)]
    carrier: dict[str, str] = {}
    _inject(carrier)
    return list(carrier.items())
