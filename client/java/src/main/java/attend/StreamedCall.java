package attend;

import attend.v1.GenerateRequest;
import attend.v1.Model;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Function;

/**
 * A call whose answer is a stream, for a subscriber to its text. If it breaks off it
 * is made again, and goes on where it ended. The fields are guarded by the object's
 * lock, which is not held when the subscriber is called.
 */
final class StreamedCall<Q, A> implements Flow.Subscription {
  private final Call<Q, A> call;
  private final Function<A, String> read;
  private final Flow.Subscriber<? super String> subscriber;
  private final Replay text = new Replay();
  private ClientCall<Q, A> running; // null: between two attempts
  private CompletableFuture<?> next; // of a pause, or what the model is
  private int made; // in all
  private int inVain; // since something new came, that attempt included
  private long wanted; // parts that the subscriber has asked for
  private boolean asked; // for a message that has not come
  private boolean over;

  private StreamedCall(Call<Q, A> call, Function<A, String> read,
      Flow.Subscriber<? super String> subscriber) {
    this.call = call;
    this.read = read;
    this.subscriber = subscriber;
  }

  static <Q, A> void start(Call<Q, A> call, Function<A, String> read,
      Flow.Subscriber<? super String> subscriber) {
    var started = new StreamedCall<>(call, read, subscriber);
    subscriber.onSubscribe(started);
    started.begin(call.request);
  }

  /** The call has broken off, and there was a pause. */
  private void beginAgain() {
    var asked = askForModel();
    if (asked == null) {
      beginAgain(null);
    } else {
      asked.whenComplete((model, error) -> beginAgain(model));
    }
  }

  /** null: how the call goes on does not depend on it. */
  private synchronized CompletableFuture<Model> askForModel() {
    if (over || !text.mayContinue(call.request)) {
      return null;
    }
    var asked = call.model(((GenerateRequest) call.request).getModel());
    next = asked;
    return asked;
  }

  private void beginAgain(Model model) {
    Q request;
    synchronized (this) {
      request = text.again(call.request, model);
    }
    begin(request);
  }

  private void begin(Q request) {
    var error = attempt(request);
    if (error != null) {
      subscriber.onError(error);
    }
  }

  /** Why it could not begin; null: it has begun, or is over. */
  private synchronized Throwable attempt(Q request) {
    if (over) {
      return null;
    }
    made++;
    asked = false;
    try {
      running = call.start(new Attempt(), request, made - 1, false);
      ask();
      return null;
    } catch (Throwable error) { // of an interceptor
      return end() ? error : null;
    }
  }

  @Override
  public void request(long count) {
    if (count <= 0) {
      if (end()) {
        subscriber.onError(new IllegalArgumentException(
            "request(" + count + "), must be at least 1"));
      }
      return;
    }
    synchronized (this) {
      wanted = wanted + count < 0 ? Long.MAX_VALUE : wanted + count;
      ask();
    }
  }

  @Override
  public void cancel() {
    end();
  }

  /** Whether the call was not over yet. */
  private synchronized boolean end() {
    boolean ends = !over;
    over = true;
    if (next != null) {
      next.cancel(false);
    }
    if (running != null) {
      running.cancel("the stream is closed", null);
      running = null;
    }
    return ends;
  }

  private synchronized void ask() {
    if (running != null && wanted > 0 && !asked) {
      asked = true;
      running.request(1);
    }
  }

  /** What of a message is new: may be empty. */
  private synchronized String take(A message) {
    if (over) {
      return "";
    }
    asked = false;
    var part = text.next(read.apply(message), message);
    wanted -= part.isEmpty() ? 0 : 1;
    return part;
  }

  private synchronized boolean goesOn(AttendException error) {
    if (over || (text.begun() && !call.connection.retry.resume())) {
      return false;
    }
    running = null;
    inVain = text.wentOn() ? 1 : inVain + 1;
    next = call.again(error, inVain, this::beginAgain);
    return next != null;
  }

  private void fail(Throwable error) {
    if (end()) {
      subscriber.onError(error);
    }
  }

  private void endWell() {
    synchronized (this) {
      text.end();
      running = null;
    }
    if (end()) {
      subscriber.onComplete();
    }
  }

  private final class Attempt extends ClientCall.Listener<A> {
    @Override
    public void onMessage(A message) {
      try {
        var part = take(message);
        if (!part.isEmpty()) {
          subscriber.onNext(part);
        }
        ask();
      } catch (Throwable error) {
        fail(error);
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      try {
        if (status.isOk()) {
          endWell();
          return;
        }
        var error = AttendException.of(status, trailers);
        if (!goesOn(error)) {
          fail(error);
        }
      } catch (Throwable error) {
        fail(error);
      }
    }
  }
}
