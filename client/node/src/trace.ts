// The trace that a call belongs to, as W3C's metadata.

import {createRequire} from 'node:module';

type OpenTelemetry = typeof import('@opentelemetry/api');

function load(): OpenTelemetry | undefined {
  try {
    return createRequire(import.meta.url)('@opentelemetry/api');
  } catch {
    return undefined;  // it is optional
  }
}

const api = load();

/** Of OpenTelemetry's current span, if there are one and the other. */
export function currentTrace(): Record<string, string> {
  const span = api?.trace.getSpanContext(api.context.active());
  if (!api || !span || !api.isSpanContextValid(span)) return {};
  const flags = span.traceFlags.toString(16).padStart(2, '0');
  const state = span.traceState?.serialize();
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(state && {tracestate: state}),
  };
}
