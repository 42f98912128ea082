import attend.AttendClient;
import attend.AttendException;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;

/** Calls whose answers are futures and publishers. */
final class AsyncCalls implements CallMaker {
  @Override
  @SuppressWarnings("unchecked")
  public Object make(AttendClient client, JsonObject call, List<String> parts) {
    CompletableFuture<Object> answer;
    if (Methods.isStream(call)) {
      var subscriber = new Parts(client, call, parts);
      ((Flow.Publisher<String>) Methods.call(client.async(), call)).subscribe(subscriber);
      answer = subscriber.all;
    } else {
      answer = (CompletableFuture<Object>) Methods.call(client.async(), call);
    }
    if (call.has("cancelAfter")) {
      CompletableFuture.delayedExecutor(
              Driver.seconds(call, "cancelAfter").toMillis(), TimeUnit.MILLISECONDS)
          .execute(() -> answer.cancel(true));
    }
    try {
      return answer.join();
    } catch (CancellationException error) {
      throw new Cancelled();
    } catch (CompletionException error) {
      throw (AttendException) error.getCause();
    }
  }

  /** A future that was cancelled: its caller knows that, and gets no AttendException. */
  static final class Cancelled extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private static final class Parts implements Flow.Subscriber<String> {
    final CompletableFuture<Object> all = new CompletableFuture<>();
    private final AttendClient client;
    private final JsonObject call;
    private final List<String> parts;
    private Flow.Subscription subscription;

    Parts(AttendClient client, JsonObject call, List<String> parts) {
      this.client = client;
      this.call = call;
      this.parts = parts;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription = given;
      all.whenComplete((found, error) -> given.cancel());
      given.request(1);
    }

    @Override
    public void onNext(String part) {
      parts.add(part);
      if (CallMaker.goesOn(client, call, parts)) {
        subscription.request(1);
      } else {
        all.complete(parts);
      }
    }

    @Override
    public void onError(Throwable error) {
      all.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
      all.complete(parts);
    }
  }
}
