package attend;

/** Of calls that may be hedged. Thread-safe. */
final class Budget {
  private static final double MOST = 10;

  private double left = MOST;

  /** Whether a call may be hedged. */
  synchronized boolean take() {
    if (left < 1) {
      return false;
    }
    left--;
    return true;
  }

  /** A call was answered in time. */
  synchronized void answered() {
    left = Math.min(MOST, left + 0.5);
  }
}
