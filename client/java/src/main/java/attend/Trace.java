package attend;

import io.grpc.Metadata;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;

/** Sends OpenTelemetry's current span with calls, if OpenTelemetry is there. */
final class Trace {
  private static final Metadata.Key<String> PARENT = key("traceparent");
  private static final boolean THERE = isThere();

  private Trace() {}

  private static Metadata.Key<String> key(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  private static boolean isThere() {
    try {
      Class.forName("io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator");
      return true;
    } catch (ClassNotFoundException | LinkageError error) {
      return false;
    }
  }

  /** Adds the span, unless the metadata has one. */
  static void add(Metadata metadata) {
    if (THERE && !metadata.containsKey(PARENT)) {
      OpenTelemetry.add(metadata);
    }
  }

  /** Is loaded only if its packages are there. */
  private static final class OpenTelemetry {
    static void add(Metadata metadata) {
      W3CTraceContextPropagator.getInstance().inject(Context.current(), metadata,
          (carrier, name, value) -> carrier.put(key(name), value));
    }
  }
}
