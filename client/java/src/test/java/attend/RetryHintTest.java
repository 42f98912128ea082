package attend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Metadata;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a server says of retries. */
class RetryHintTest {
  @Test
  void hintsMayBeAnything() {
    assertEquals(Duration.ofMillis(7), hint("7").after());
    assertTrue(hint("-1").isFinal());
    assertTrue(hint("99999999999999999999").isFinal());
    assertSame(null, hint(null).after());
    assertTrue(Timer.nanoseconds(Duration.ofSeconds(Long.MAX_VALUE)) > 0);
  }

  private static RetryHint hint(String pushback) {
    var trailers = new Metadata();
    if (pushback != null) {
      trailers.put(Metadata.Key.of("grpc-retry-pushback-ms",
          Metadata.ASCII_STRING_MARSHALLER), pushback);
    }
    return RetryHint.of(trailers);
  }
}
