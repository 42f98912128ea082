package attend;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * How often gRPC makes a call again, and after how long: {@code UNAVAILABLE}, and
 * {@code RESOURCE_EXHAUSTED} unless the server forbids it. The pause that the server
 * names ({@code grpc-retry-pushback-ms}) takes the place of the backoff. A stream is
 * made again until its first message.
 *
 * @param maxAttempts the first included; 1: nothing is retried
 * @param initialBackoff doubles with each attempt
 * @param maxBackoff the longest backoff
 */
public record Retry(int maxAttempts, Duration initialBackoff, Duration maxBackoff) {
  /** What a client does that is not told otherwise. */
  public static final Retry DEFAULT =
      new Retry(4, Duration.ofMillis(100), Duration.ofSeconds(2));

  public Retry {
    if (maxAttempts < 1) {
      throw new IllegalArgumentException(
          "maxAttempts is " + maxAttempts + ", must be at least 1");
    }
    if (initialBackoff.isNegative() || maxBackoff.isNegative()) {
      throw new IllegalArgumentException(
          "a backoff is negative: " + initialBackoff + ", " + maxBackoff);
    }
  }

  /** The same with another number of attempts. */
  public Retry withMaxAttempts(int count) {
    return new Retry(count, initialBackoff, maxBackoff);
  }

  /** The same with other pauses. */
  public Retry withBackoff(Duration initial, Duration max) {
    return new Retry(maxAttempts, initial, max);
  }

  /** The method config of gRPC's service config. */
  Map<String, ?> methodConfig() {
    return Map.of("name", List.of(Map.of()), "retryPolicy", Map.of(
        "maxAttempts", (double) maxAttempts, "backoffMultiplier", 2.0,
        "initialBackoff", seconds(initialBackoff), "maxBackoff", seconds(maxBackoff),
        "retryableStatusCodes", List.of("UNAVAILABLE", "RESOURCE_EXHAUSTED")));
  }

  private static String seconds(Duration duration) {
    return "%d.%09ds".formatted(duration.getSeconds(), duration.getNano());
  }
}
