// Package attendtrace sends OpenTelemetry's traces with the calls of a client:
//
//	attend.NewClient(target, attend.WithTrace(attendtrace.Metadata))
package attendtrace

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/trace"
)

// Metadata is W3C's of the context's span; none if there is no span.
func Metadata(ctx context.Context) map[string]string {
	span := trace.SpanContextFromContext(ctx)
	if !span.IsValid() {
		return nil
	}
	found := map[string]string{"traceparent": fmt.Sprintf("00-%s-%s-%s",
		span.TraceID(), span.SpanID(), span.TraceFlags())}
	if state := span.TraceState().String(); state != "" {
		found["tracestate"] = state
	}
	return found
}
