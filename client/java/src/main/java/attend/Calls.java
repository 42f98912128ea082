package attend;

import attend.v1.AdminGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * Makes calls, which gRPC balances and retries by its service config. Thread-safe.
 *
 * @param channel to servers that are serving
 * @param admin to servers whatever their health: one may wait for its first model
 * @param reconnected when the channels were last told to try lost servers again
 * @param timeout of a call, all attempts together; null: no limit
 * @param metadata sent with each call
 */
record Calls(ManagedChannel channel, ManagedChannel admin, AtomicLong reconnected,
    Duration timeout, Map<String, String> metadata) {
  private static final long BETWEEN_RECONNECTS = TimeUnit.SECONDS.toNanos(5);
  private static final Duration LONGEST = Duration.ofDays(36_500);

  Calls withTimeout(Duration given) {
    return new Calls(channel, admin, reconnected, given, metadata);
  }

  Calls withMetadata(String key, String value) {
    key(key); // refuses what is no key
    var more = new TreeMap<>(metadata);
    more.put(key, value);
    return new Calls(channel, admin, reconnected, timeout, more);
  }

  static Metadata.Key<String> key(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  void close() {
    channel.shutdownNow();
    admin.shutdownNow();
  }

  /** Sends a request. The listener gets messages that are asked for by request(). */
  private <Q, A> ClientCall<Q, A> start(
      MethodDescriptor<Q, A> method, Q request, ClientCall.Listener<A> listener) {
    reconnect();
    var options = timeout == null ? CallOptions.DEFAULT : CallOptions.DEFAULT.withDeadlineAfter(
        timeout.compareTo(LONGEST) < 0 ? timeout : LONGEST);
    var service = AdminGrpc.SERVICE_NAME.equals(method.getServiceName()) ? admin : channel;
    var headers = new Metadata();
    metadata.forEach((key, value) -> headers.put(key(key), value));
    Trace.add(headers);
    var call = service.newCall(method, options);
    try {
      call.start(listener, headers);
      call.sendMessage(request);
      call.halfClose();
      return call;
    } catch (RuntimeException | Error error) { // of an interceptor
      call.cancel("the call could not be sent", error);
      throw error;
    }
  }

  /**
   * gRPC waits up to two minutes before it tries a server again that it has lost, and
   * its channels have no option for that.
   */
  private void reconnect() {
    long now = System.nanoTime();
    long last = reconnected.get();
    if (now - last > BETWEEN_RECONNECTS && reconnected.compareAndSet(last, now)) {
      channel.resetConnectBackoff();
      admin.resetConnectBackoff();
    }
  }

  /** What {@code read} makes of all messages. Cancelling the future cancels the call. */
  <Q, A, R> CompletableFuture<R> collect(
      MethodDescriptor<Q, A> method, Q request, Function<List<A>, R> read) {
    var future = new CompletableFuture<R>();
    var answers = new ArrayList<A>();
    try {
      var call = start(method, request, new ClientCall.Listener<A>() {
        @Override
        public void onMessage(A message) {
          answers.add(message);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
          try {
            if (status.isOk() && answers.isEmpty()) {
              status = Status.INTERNAL.withDescription("the server sent no answer");
            }
            if (!status.isOk()) {
              throw AttendException.of(status, trailers);
            }
            future.complete(read.apply(answers));
          } catch (Throwable error) {
            future.completeExceptionally(error);
          }
        }
      });
      call.request(method.getType().serverSendsOneMessage() ? 2 : Integer.MAX_VALUE);
      future.whenComplete((result, error) -> {
        if (future.isCancelled()) {
          call.cancel("cancelled by the caller", null);
        }
      });
    } catch (Throwable error) {
      future.completeExceptionally(error);
    }
    return future;
  }

  /** The parts that {@code read} makes of messages. Each subscriber gets its own call. */
  <Q, A> Flow.Publisher<String> publish(
      MethodDescriptor<Q, A> method, Q request, Function<A, String> read) {
    return subscriber -> {
      var parts = new Parts<A>(subscriber, read);
      subscriber.onSubscribe(parts);
      try {
        parts.begin(start(method, request, parts));
      } catch (Throwable error) {
        parts.end(error);
      }
    };
  }

  /** Passes the parts of a stream on. The subscriber is called without the lock. */
  private static final class Parts<A> extends ClientCall.Listener<A>
      implements Flow.Subscription {
    private final Flow.Subscriber<? super String> subscriber;
    private final Function<A, String> read;
    private ClientCall<?, A> call; // null: has not begun
    private long wanted; // parts that the subscriber has asked for
    private boolean asked; // for a message that has not come
    private boolean over;

    Parts(Flow.Subscriber<? super String> subscriber, Function<A, String> read) {
      this.subscriber = subscriber;
      this.read = read;
    }

    synchronized void begin(ClientCall<?, A> begun) {
      call = begun;
      if (over) {
        call.cancel("the stream is closed", null);
      }
      ask(0);
    }

    private synchronized void ask(long more) {
      wanted = wanted + more < 0 ? Long.MAX_VALUE : wanted + more;
      if (call != null && !over && wanted > 0 && !asked) {
        asked = true;
        call.request(1);
      }
    }

    private synchronized boolean ends() {
      boolean ends = !over;
      over = true;
      if (call != null) {
        call.cancel("the stream is closed", null);
      }
      return ends;
    }

    /** Ends the stream; null: well. */
    void end(Throwable error) {
      if (!ends()) {
        return;
      }
      if (error == null) {
        subscriber.onComplete();
      } else {
        subscriber.onError(error);
      }
    }

    private synchronized boolean take(String part) {
      asked = false;
      wanted -= part.isEmpty() ? 0 : 1;
      return !over && !part.isEmpty();
    }

    @Override
    public void request(long count) {
      if (count <= 0) {
        end(new IllegalArgumentException("request(" + count + "), must be at least 1"));
      } else {
        ask(count);
      }
    }

    @Override
    public void cancel() {
      ends();
    }

    @Override
    public void onMessage(A message) {
      try {
        var part = read.apply(message);
        if (take(part)) {
          subscriber.onNext(part);
        }
        ask(0);
      } catch (Throwable error) {
        end(error);
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      end(status.isOk() ? null : AttendException.of(status, trailers));
    }
  }
}
