package attend;

import attend.v1.AttendGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A call before its first attempt. The deadline and the cancellation of gRPC's
 * current context hold for it.
 */
final class Call<Q, A> {
  final Connection connection;
  final Hedging hedging; // null: none
  private final MethodDescriptor<Q, A> method;
  private final Q request;
  private final Deadline end; // null: none
  private final Metadata metadata;
  private final String affinity; // null: none
  private final Context context = Context.current();

  Call(Connection connection, CallSettings settings, MethodDescriptor<Q, A> method,
      Q request) {
    this.connection = connection;
    // What changes the server is not asked for twice.
    this.hedging = AttendGrpc.SERVICE_NAME.equals(method.getServiceName())
        ? connection.hedging : null;
    this.method = method;
    this.request = request;
    this.metadata = settings.toMetadata();
    this.affinity = Affinity.keyOf(request, connection.affinity);
    var own = settings.timeout() == null ? null : Deadline.after(
        Timer.nanoseconds(settings.timeout()), TimeUnit.NANOSECONDS);
    var outer = context.getDeadline();
    this.end = own == null || (outer != null && outer.isBefore(own)) ? outer : own;
  }

  /** Messages to ask for, if all are wanted: of one the second would be an error. */
  int messages() {
    return method.getType().serverSendsOneMessage() ? 2 : Integer.MAX_VALUE;
  }

  /**
   * Sends the request. The listener then has to be given messages by request().
   * While others run it goes elsewhere: of N servers, one in N goes to the same.
   */
  ClientCall<Q, A> start(ClientCall.Listener<A> listener, boolean othersRun) {
    connection.reconnect();
    var call = connection.channel.newCall(method, CallOptions.DEFAULT.withDeadline(end));
    var headers = new Metadata(); // gRPC adds its own
    headers.merge(metadata);
    if (affinity != null) {
      headers.put(Affinity.HEADER, othersRun ? affinity + "-2" : affinity);
    }
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

  /** Begins the next attempt after the pause that Retry names; null: there is none. */
  CompletableFuture<Void> again(AttendException error, int made, Runnable begin) {
    if (connection.channel.isShutdown()) {
      return null;
    }
    return connection.retry.pause(error, made, end)
        .map(pause -> Timer.after(pause, context.wrap(begin))).orElse(null);
  }

  /** Begins the next attempt while others run. */
  CompletableFuture<Void> hedge(Runnable begin) {
    return Timer.after(hedging.after(), context.wrap(begin));
  }
}
