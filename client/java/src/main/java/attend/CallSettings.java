package attend;

import io.grpc.Metadata;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * What calls are made with.
 *
 * @param timeout of all attempts together; null: no limit
 * @param metadata sent with each
 */
record CallSettings(Duration timeout, Map<String, String> metadata) {
  CallSettings withTimeout(Duration given) {
    return new CallSettings(given, metadata);
  }

  CallSettings withMetadata(String key, String value) {
    Metadata.Key.of(key, Metadata.ASCII_STRING_MARSHALLER); // refuses what is no key
    var more = new TreeMap<>(metadata);
    more.put(key, value);
    return new CallSettings(timeout, more);
  }

  /** Of one call. */
  Metadata toMetadata() {
    var found = new Metadata();
    metadata.forEach((key, value) ->
        found.put(Metadata.Key.of(key, Metadata.ASCII_STRING_MARSHALLER), value));
    Trace.add(found);
    return found;
  }
}
