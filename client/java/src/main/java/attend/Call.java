package attend;

import attend.v1.AttendGrpc;
import attend.v1.GetModelRequest;
import attend.v1.Model;
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
  private static final Metadata.Key<String> ATTEMPTS_BEFORE = Metadata.Key.of(
      "grpc-previous-rpc-attempts", Metadata.ASCII_STRING_MARSHALLER);
  final Connection connection;
  final Hedging hedging; // null: none
  private final MethodDescriptor<Q, A> method;
  final Q request;
  private final Deadline end; // null: none
  private final Metadata metadata;
  private final String affinity; // null: none
  private final Context context;

  Call(Connection connection, CallSettings settings, MethodDescriptor<Q, A> method,
      Q request) {
    this.connection = connection;
    this.context = Context.current();
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

  private Call(Call<?, ?> other, MethodDescriptor<Q, A> method, Q request) {
    this.connection = other.connection;
    this.hedging = null;
    this.method = method;
    this.request = request;
    this.metadata = other.metadata;
    this.affinity = null;
    this.end = other.end;
    this.context = other.context;
  }

  /** Asks for a model, in the time of this call. */
  CompletableFuture<Model> model(String name) {
    var asked = new Call<>(this, AttendGrpc.getGetModelMethod(),
        GetModelRequest.newBuilder().setName(name).build());
    return UnaryCall.start(asked, answers -> answers.get(0));
  }

  /** Messages to ask for, if all are wanted: of one the second would be an error. */
  int messages() {
    return method.getType().serverSendsOneMessage() ? 2 : Integer.MAX_VALUE;
  }

  /**
   * Sends a request: that of the call, or the rest of it. The listener then has to be given messages by request().
   * The server is told how many attempts there were before.
   * While others run it goes elsewhere: of N servers, one in N goes to the same.
   */
  ClientCall<Q, A> start(
      ClientCall.Listener<A> listener, Q sent, int before, boolean othersRun) {
    connection.reconnect();
    var call = connection.channelOf(method.getServiceName())
        .newCall(method, CallOptions.DEFAULT.withDeadline(end));
    var headers = new Metadata(); // gRPC adds its own
    headers.merge(metadata);
    if (before > 0) {
      headers.put(ATTEMPTS_BEFORE, String.valueOf(before));
    }
    if (affinity != null) {
      headers.put(Affinity.HEADER, othersRun ? affinity + "-2" : affinity);
    }
    try {
      call.start(listener, headers);
      call.sendMessage(sent);
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
