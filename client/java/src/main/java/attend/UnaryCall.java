package attend;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A call whose answer is wanted whole, by one or several attempts: after a failure when the rules of Retry say
 * so, and with Hedging while others run. The fields are guarded by the object's
 * lock. Cancelling the future cancels what runs.
 */
final class UnaryCall<Q, A, R> extends CompletableFuture<R> {
  private final Call<Q, A> call;
  private final Function<List<A>, R> read; // of all messages: at least one
  private final Set<Attempt> running = new HashSet<>();
  private int made;
  private int timers; // the number of the last, by which it is known
  private CompletableFuture<Void> next;

  private UnaryCall(Call<Q, A> call, Function<List<A>, R> read) {
    this.call = call;
    this.read = read;
  }

  static <Q, A, R> CompletableFuture<R> start(
      Call<Q, A> call, Function<List<A>, R> read) {
    var started = new UnaryCall<>(call, read);
    started.whenComplete((result, error) -> started.stop());
    started.begin(started.timers);
    return started;
  }

  /** What runs is of no use any more. */
  private synchronized void stop() {
    cancelNext();
    running.forEach(Attempt::cancel);
    running.clear();
  }

  private void cancelNext() {
    timers++; // its thread may have begun
    if (next != null) {
      next.cancel(false);
      next = null;
    }
  }

  private Runnable newTimer() {
    int timer = ++timers;
    return () -> begin(timer);
  }

  private void begin(int timer) {
    try {
      attempt(timer);
    } catch (Throwable error) { // of an interceptor
      completeExceptionally(error);
    }
  }

  private synchronized void attempt(int timer) {
    if (timer != timers || isDone()
        || (!running.isEmpty() && !call.connection.budget.take())) {
      return;
    }
    made++;
    start(new Attempt());
    var hedging = call.hedging;
    if (hedging != null && made < call.connection.retry.maxAttempts()
        && running.size() < hedging.maxRunning()) {
      next = call.hedge(newTimer());
    }
  }

  private void start(Attempt attempt) {
    boolean othersRun = !running.isEmpty();
    running.add(attempt);
    try {
      attempt.started = call.start(attempt, call.request, made - 1, othersRun);
      attempt.started.request(call.messages());
    } catch (Throwable error) {
      running.remove(attempt); // what it hears is not of the call any more
      throw error;
    }
  }

  /** The error that ends the call; null: it goes on. */
  private synchronized AttendException failed(Attempt attempt, AttendException error) {
    if (!running.remove(attempt)) {
      return null; // it was cancelled
    }
    if (!error.retriable()) {
      return error;
    }
    cancelNext();
    next = call.again(error, made, newTimer());
    return next == null && running.isEmpty() ? error : null;
  }

  private synchronized boolean answered(Attempt attempt) {
    return running.remove(attempt) && made == 1;
  }

  private void finish(List<A> answers) {
    try {
      complete(read.apply(answers));
    } catch (Throwable error) {
      completeExceptionally(error);
    }
  }

  private final class Attempt extends ClientCall.Listener<A> {
    private ClientCall<Q, A> started; // null: it is being started
    private final List<A> answers = new ArrayList<>();

    void cancel() {
      if (started != null) {
        started.cancel("cancelled by the caller", null);
      }
    }

    @Override
    public void onMessage(A message) {
      answers.add(message);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (status.isOk() && !answers.isEmpty()) {
        if (answered(this)) {
          call.connection.budget.answered();
        }
        finish(answers);
        return;
      }
      var bad = status.isOk()
          ? Status.INTERNAL.withDescription("the server sent no answer") : status;
      var error = failed(this, AttendException.of(bad, trailers));
      if (error != null) {
        completeExceptionally(error);
      }
    }
  }
}
