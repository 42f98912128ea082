package attend;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Waits on a thread of Java's own, which is not held up by what runs then. */
final class Timer {
  private static final Duration LONGEST = Duration.ofDays(36_500);
  // Not Java's common pool, all of whose threads may be waiting for answers.
  private static final Executor THREADS = Executors.newCachedThreadPool(run -> {
    var thread = new Thread(run, "attend-timer");
    thread.setDaemon(true);
    return thread;
  });

  private Timer() {}

  /** Runs something later. Cancelling the result stops that. */
  static CompletableFuture<Void> after(Duration pause, Runnable run) {
    var timer = new CompletableFuture<Void>().completeOnTimeout(
        null, nanoseconds(pause), TimeUnit.NANOSECONDS);
    timer.thenRunAsync(run, THREADS);
    return timer;
  }

  /** Of a time that may be longer than a long has room for. */
  static long nanoseconds(Duration duration) {
    return (duration.compareTo(LONGEST) < 0 ? duration : LONGEST).toNanos();
  }
}
