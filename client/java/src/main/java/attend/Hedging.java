package attend;

import java.time.Duration;

/**
 * Sends a call once more while it is not answered: to the next server. The first
 * answer counts, and the other attempts are cancelled. All of them count as
 * attempts of {@link Retry}. Streams are not hedged, nor what changes the server's
 * models. An overload is not made worse by it: ten calls may be hedged at once, then
 * one for two that were answered in time.
 *
 * @param after the pause before the next attempt
 * @param maxRunning the most attempts at the same time
 */
public record Hedging(Duration after, int maxRunning) {
  public Hedging {
    if (after.isNegative() || after.isZero()) {
      throw new IllegalArgumentException("after is " + after + ", must be more than 0");
    }
    if (maxRunning < 1) {
      throw new IllegalArgumentException(
          "maxRunning is " + maxRunning + ", must be at least 1");
    }
  }

  /** With two attempts at the same time. */
  public Hedging(Duration after) {
    this(after, 2);
  }
}
