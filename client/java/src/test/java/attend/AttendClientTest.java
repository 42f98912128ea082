package attend;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import attend.v1.AttendGrpc;
import attend.v1.EmbedRequest;
import attend.v1.EmbedResponse;
import attend.v1.EmbedResult;
import attend.v1.GenerateChunk;
import attend.v1.GenerateRequest;
import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/**
 * The rest is tested by tests/client/conformance, as other languages' packages are.
 */
@Timeout(300)
class AttendClientTest {
  private static final String SPAN = "00-%032x-%016x-01".formatted(3, 4);

  private final Fake fake = new Fake();
  private Server server;
  private AttendClient client;

  @BeforeEach
  void start() throws IOException {
    server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
        .addService(fake).intercept(fake)
        .addService(new HealthStatusManager().getHealthService()).build().start();
    client = AttendClient.builder("localhost:" + server.getPort())
        .environment(Map.of()).build();
  }

  @AfterEach
  void stop() throws InterruptedException {
    client.close();
    server.shutdownNow().awaitTermination();
  }

  @Test
  void oneInputFails() {
    var error = assertThrows(AttendException.class,
        () -> client.embed(Inputs.texts("abc", "bad", "a")));
    assertEquals("INVALID_ARGUMENT: input 1: a bad text", error.getMessage());
    assertEquals("a bad text", error.details());
    assertEquals(1, error.input().getAsInt());
    assertEquals(3, error.results().size());
    assertArrayEquals(new float[] {3, -0.5f}, (float[]) error.results().get(0));
    assertEquals(Status.Code.INVALID_ARGUMENT,
        ((AttendException) error.results().get(1)).code());
    assertArrayEquals(new float[] {1, -0.5f}, (float[]) error.results().get(2));
  }

  @Test
  void errorsAreThoseOfTheCaller() {
    var error = assertThrows(AttendException.class, () -> client.models());
    assertEquals(Status.Code.UNIMPLEMENTED, Status.fromThrowable(error).getCode());
    assertTrue(List.of(error.getStackTrace()).stream().anyMatch(
        at -> at.getClassName().equals(AttendClientTest.class.getName())));
  }

  @Test
  void retries() {
    var unavailable = Map.entry(Status.UNAVAILABLE, "");
    var full = Map.entry(Status.RESOURCE_EXHAUSTED, "1");
    assertRetries(List.of(unavailable, full), 3, 3, Status.Code.OK);
    assertRetries(List.of(full, full, unavailable, full, full, full), 7, 7, Status.Code.OK);
    assertRetries(List.of(unavailable, full), 2, 2, Status.Code.RESOURCE_EXHAUSTED);
    assertRetries(List.of(unavailable, full), 1, 1, Status.Code.UNAVAILABLE);
    assertRetries(List.of(Map.entry(Status.RESOURCE_EXHAUSTED, "-1")), 3, 1,
        Status.Code.RESOURCE_EXHAUSTED);
    assertRetries(List.of(Map.entry(Status.INTERNAL, "")), 3, 1, Status.Code.INTERNAL);
  }

  private void assertRetries(List<Map.Entry<Status, String>> script, int maxAttempts,
      int calls, Status.Code expected) {
    fake.script.addAll(script);
    fake.calls.set(0);
    var millisecond = Duration.ofMillis(1);
    var code = Status.Code.OK;
    try (var retrying = AttendClient.builder("localhost:" + server.getPort())
        .environment(Map.of()).retry(new Retry(maxAttempts, millisecond, millisecond)).build()) {
      retrying.embed(Inputs.texts("a"));
    } catch (AttendException error) {
      code = error.code();
    }
    assertEquals(expected, code);
    assertEquals(calls, fake.calls.get());
    assertEquals(calls > 1 ? String.valueOf(calls - 1) : null, fake.attemptsBefore);
    fake.script.clear();
  }

  @Test
  void currentSpanIsSent() {
    client.embed(Inputs.texts("a"));
    assertNull(fake.traceparent);
    var span = SpanContext.create("%032x".formatted(3), "%016x".formatted(4),
        TraceFlags.getSampled(), TraceState.getDefault());
    try (var scope = Span.wrap(span).makeCurrent()) {
      client.embed(Inputs.texts("a"));
      assertEquals(SPAN, fake.traceparent);
      client.withMetadata("traceparent", "own").embed(Inputs.texts("a"));
      assertEquals("own", fake.traceparent);
    }
  }

  @Test
  void contextOfGrpcEndsCalls() throws Exception {
    var context = Context.current().withCancellation();
    var answer = context.call(() -> client.async().embed(Inputs.texts("hang")));
    fake.hangs.join();
    context.cancel(null);
    var error = assertThrows(Exception.class, answer::get).getCause();
    assertEquals(Status.Code.CANCELLED, ((AttendException) error).code());
  }

  @Test
  void closingAClientEndsItsCalls() {
    var answer = client.async().embed(Inputs.texts("hang"));
    fake.hangs.join();
    client.close();
    assertThrows(Exception.class, answer::get);
    assertThrows(AttendException.class, () -> client.embed(Inputs.texts("a")));
  }

  @Test
  void subscriberGetsWhatItAskedFor() {
    var parts = new Parts();
    client.async().stream(Inputs.text("abc")).subscribe(parts);
    parts.subscription.request(1);
    assertEquals("a", parts.next.join());
    parts.next = new CompletableFuture<>();
    parts.subscription.request(Long.MAX_VALUE);
    parts.subscription.request(Long.MAX_VALUE);
    parts.end.join();
    assertEquals(List.of("a", "b", "c"), parts.all);
  }

  @Test
  void subscriberMustAskForSome() {
    var parts = new Parts();
    client.async().stream(Inputs.text("abc")).subscribe(parts);
    parts.subscription.request(0);
    assertThrows(Exception.class, parts.end::join);
    assertEquals(List.of(), parts.all);
  }

  @Test
  void severalServers() {
    var both = "localhost:1,localhost:" + server.getPort();
    try (var several = AttendClient.builder(both).environment(Map.of()).build()) {
      assertEquals(1, several.embed(Inputs.texts("a")).length);
      assertEquals("localhost:1", several.channel().authority());
    }
  }

  @Test
  void interceptorsThatThrowEndCalls() {
    try (var thrower = AttendClient.builder("localhost:" + server.getPort())
        .environment(Map.of()).channel(channel -> channel.intercept(new Thrower())).build()) {
      assertThrown(() -> thrower.embed(Inputs.texts("a")));
      assertThrown(() -> thrower.stream(Inputs.text("a")).forEachRemaining(part -> {}));
    }
  }

  private static void assertThrown(Executable run) {
    var error = assertThrows(RuntimeException.class, run);
    assertTrue(error.getMessage().contains("thrown"), error.getMessage());
  }

  private static final class Thrower implements ClientInterceptor {
    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      throw new IllegalStateException("thrown");
    }
  }

  /** Answers with what it was called with. */
  private static final class Fake extends AttendGrpc.AttendImplBase
      implements ServerInterceptor {
    final CompletableFuture<Void> hangs = new CompletableFuture<>();
    final Queue<Map.Entry<Status, String>> script = new ConcurrentLinkedQueue<>();
    final AtomicInteger calls = new AtomicInteger();
    volatile String traceparent;
    volatile String attemptsBefore;

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      if (!call.getMethodDescriptor().getServiceName().equals(AttendGrpc.SERVICE_NAME)) {
        return next.startCall(call, headers);
      }
      calls.incrementAndGet();
      traceparent = headers.get(Calls.key("traceparent"));
      attemptsBefore = headers.get(Calls.key("grpc-previous-rpc-attempts"));
      var line = script.poll();
      if (line == null) {
        return next.startCall(call, headers);
      }
      var trailers = new Metadata();
      if (!line.getValue().isEmpty()) {
        trailers.put(Calls.key("grpc-retry-pushback-ms"), line.getValue());
      }
      call.close(line.getKey(), trailers);
      return new ServerCall.Listener<>() {};
    }

    @Override
    public void embed(EmbedRequest request, StreamObserver<EmbedResponse> observer) {
      var answer = EmbedResponse.newBuilder();
      for (var input : request.getInputsList()) {
        if (input.getText().equals("hang")) {
          hangs.complete(null);
          return;
        }
        answer.addResults(embed(input.getText()));
      }
      observer.onNext(answer.build());
      observer.onCompleted();
    }

    private static EmbedResult embed(String text) {
      if (text.equals("bad")) {
        return EmbedResult.newBuilder().setStatus(attend.v1.Status.newBuilder()
            .setCode(Status.Code.INVALID_ARGUMENT.value()).setMessage("a bad text")).build();
      }
      var numbers = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN)
          .putFloat(text.length()).putFloat(-0.5f).flip();
      return EmbedResult.newBuilder()
          .setWidth(2).setData(ByteString.copyFrom(numbers)).build();
    }

    /** Each letter, and an empty part after it. */
    @Override
    public void generateStream(
        GenerateRequest request, StreamObserver<GenerateChunk> observer) {
      for (var letter : request.getInputs(0).getText().split("")) {
        observer.onNext(GenerateChunk.newBuilder().setText(letter).build());
        observer.onNext(GenerateChunk.getDefaultInstance());
      }
      observer.onCompleted();
    }
  }

  private static final class Parts implements Flow.Subscriber<String> {
    final List<String> all = new ArrayList<>();
    final CompletableFuture<Void> end = new CompletableFuture<>();
    volatile CompletableFuture<String> next = new CompletableFuture<>();
    Flow.Subscription subscription;

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription = given;
    }

    @Override
    public void onNext(String part) {
      all.add(part);
      next.complete(part);
    }

    @Override
    public void onError(Throwable error) {
      end.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
      end.complete(null);
    }
  }
}
