package attend;

import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.Flow;

/**
 * The parts of a text, as they are computed. Who does not read to the end closes it,
 * which cancels the call; another thread may close it, too. It is read once.
 */
public final class TextStream implements Iterable<String>, Iterator<String>, AutoCloseable {
  private final Parts parts = new Parts();

  TextStream(Flow.Publisher<String> publisher) {
    publisher.subscribe(parts);
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
    try {
      return parts.waitForOne();
    } catch (InterruptedException error) {
      close();
      Thread.currentThread().interrupt();
      throw new AttendException(Status.Code.CANCELLED, "the thread was interrupted");
    }
  }

  @Override
  public String next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the stream has ended");
    }
    return parts.take();
  }

  /** Cancels the call, unless it is over. */
  @Override
  public void close() {
    parts.close();
  }

  private static final class Parts implements Flow.Subscriber<String> {
    private final Queue<String> come = new ArrayDeque<>();
    private Flow.Subscription subscription;
    private boolean asked;
    private boolean ended;
    private RuntimeException failed;

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription = given;
    }

    @Override
    public synchronized void onNext(String part) {
      come.add(part);
      asked = false;
      notifyAll();
    }

    @Override
    public void onError(Throwable error) {
      end(error instanceof RuntimeException known ? known : new RuntimeException(error));
    }

    @Override
    public void onComplete() {
      end(null);
    }

    private synchronized void end(RuntimeException error) {
      if (!ended) {
        ended = true;
        failed = error;
        notifyAll();
      }
    }

    /** Whether there is one. */
    boolean waitForOne() throws InterruptedException {
      if (asksFirst()) {
        subscription.request(1);
      }
      synchronized (this) {
        while (come.isEmpty() && !ended) {
          wait();
        }
        if (come.isEmpty() && failed != null) {
          failed.fillInStackTrace(); // of the reader; the cause has the other
          throw failed;
        }
        return !come.isEmpty();
      }
    }

    private synchronized boolean asksFirst() {
      boolean first = come.isEmpty() && !asked && !ended;
      asked |= first;
      return first;
    }

    synchronized String take() {
      return come.remove();
    }

    void close() {
      subscription.cancel();
      synchronized (this) {
        if (!ended) {
          come.clear();
        }
      }
      end(new AttendException(Status.Code.CANCELLED, "the stream is closed"));
    }
  }
}
