/// W3C's metadata of OpenTelemetry's current span; none if there is no span.
#[cfg(feature = "opentelemetry")]
pub(crate) fn current() -> Vec<(&'static str, String)> {
    use opentelemetry::trace::TraceContextExt;
    let context = opentelemetry::Context::current();
    let span = context.span();
    let span = span.span_context();
    if !span.is_valid() {
        return Vec::new();
    }
    let (trace, id, flags) = (span.trace_id(), span.span_id(), span.trace_flags());
    let mut found = vec![("traceparent", format!("00-{trace}-{id}-{flags:02x}"))];
    let state = span.trace_state().header();
    if !state.is_empty() {
        found.push(("tracestate", state));
    }
    found
}

/// The feature `opentelemetry` is off.
#[cfg(not(feature = "opentelemetry"))]
pub(crate) fn current() -> Vec<(&'static str, String)> {
    Vec::new()
}

#[cfg(all(test, feature = "opentelemetry"))]
mod tests {
    use super::*;
    use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId};

    #[test]
    fn current_span() {
        assert_eq!(current(), []);
        let span = SpanContext::new(
            TraceId::from(3u128),
            SpanId::from(4u64),
            TraceFlags::SAMPLED,
            true,
            Default::default(),
        );
        let context = opentelemetry::Context::new().with_remote_span_context(span);
        let _attached = context.attach();
        let expected = format!("00-{:032x}-{:016x}-01", 3, 4);
        assert_eq!(current(), [("traceparent", expected)]);
    }
}
