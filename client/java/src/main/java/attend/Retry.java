package attend;

import io.grpc.Deadline;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * How often a call is made again, and after how long. {@code UNAVAILABLE} is
 * retried, and what a proxy or a broken connection cuts off; {@code
 * RESOURCE_EXHAUSTED} if the server says when. What the server says ({@code
 * RetryInfo}, {@code grpc-retry-pushback-ms}) takes the place of the backoff.
 *
 * <p>gRPC's own retries would not do. They end when headers have arrived, and a
 * server that returns request ids sends headers with every error.
 *
 * @param maxAttempts the first included; 1: nothing is retried. Of a stream: in vain
 * @param initialBackoff doubles with each attempt
 * @param maxBackoff the longest backoff
 * @param resume whether a stream that has begun is made again, too, and goes on
 *     where it broke off: results are the same each time
 */
public record Retry(
    int maxAttempts, Duration initialBackoff, Duration maxBackoff, boolean resume) {
  /** What a client does that is not told otherwise. */
  public static final Retry DEFAULT =
      new Retry(4, Duration.ofMillis(100), Duration.ofSeconds(2), true);

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
    return new Retry(count, initialBackoff, maxBackoff, resume);
  }

  /** The same with other pauses. */
  public Retry withBackoff(Duration initial, Duration max) {
    return new Retry(maxAttempts, initial, max, resume);
  }

  /** The same, with streams that go on, or do not. */
  public Retry withResume(boolean yes) {
    return new Retry(maxAttempts, initialBackoff, maxBackoff, yes);
  }

  /**
   * The pause before the next attempt, after {@code made} attempts. Empty: there
   * is none; so it is, too, if it would begin when the call's time is over.
   */
  Optional<Duration> pause(AttendException error, int made, Deadline end) {
    var pause = error.retryAfter().orElseGet(() -> backoff(made));
    boolean late = end != null
        && pause.compareTo(Duration.ofNanos(end.timeRemaining(TimeUnit.NANOSECONDS))) >= 0;
    return error.retriable() && made < maxAttempts && !late
        ? Optional.of(pause) : Optional.empty();
  }

  private Duration backoff(int made) {
    double seconds = Math.min(
        seconds(maxBackoff), seconds(initialBackoff) * Math.pow(2, made - 1));
    double factor = 0.8 + 0.4 * ThreadLocalRandom.current().nextDouble();
    return Duration.ofNanos((long) (1e9 * seconds * factor));
  }

  private static double seconds(Duration duration) {
    return duration.getSeconds() + duration.getNano() / 1e9;
  }
}
