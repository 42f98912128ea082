package attend;

import io.grpc.Status;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The parts of a text, as they are computed. Who does not read to the end closes it,
 * which cancels the call; another thread may close it, too. It is read once.
 */
public final class TextStream implements Iterable<String>, Iterator<String>, AutoCloseable {
  private static final Object END = new Object();

  private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
  private Flow.Subscription subscription;
  private Object next; // a part, END, or what has failed; null: is not asked for

  TextStream(Flow.Publisher<String> publisher) {
    publisher.subscribe(new Flow.Subscriber<>() {
      @Override
      public void onSubscribe(Flow.Subscription given) {
        subscription = given;
      }

      @Override
      public void onNext(String part) {
        events.add(part);
      }

      @Override
      public void onError(Throwable error) {
        events.add(error instanceof RuntimeException known ? known : new RuntimeException(error));
      }

      @Override
      public void onComplete() {
        events.add(END);
      }
    });
  }

  /** The stream itself. */
  @Override
  public Iterator<String> iterator() {
    return this;
  }

  /**
   * Waits for the next part. If the call fails, or the thread is interrupted, or the
   * stream was closed, it throws an {@link AttendException}.
   */
  @Override
  public boolean hasNext() {
    if (next == null) {
      subscription.request(1);
      try {
        next = events.take();
      } catch (InterruptedException error) {
        subscription.cancel();
        Thread.currentThread().interrupt();
        next = new AttendException(Status.Code.CANCELLED, "the thread was interrupted");
      }
    }
    if (next instanceof RuntimeException failed) {
      failed.fillInStackTrace(); // of the reader; the cause has the other
      throw failed;
    }
    return next != END;
  }

  @Override
  public String next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the stream has ended");
    }
    var part = (String) next;
    next = null;
    return part;
  }

  /** Cancels the call, unless it is over. */
  @Override
  public void close() {
    subscription.cancel();
    events.add(new AttendException(Status.Code.CANCELLED, "the stream is closed"));
  }
}
