import attend.AttendClient;
import attend.TextStream;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Calls that wait. An interrupt cancels them. */
final class BlockingCalls implements CallMaker {
  @Override
  public Object make(AttendClient client, JsonObject call, List<String> parts) {
    if (call.has("cancelAfter")) {
      CompletableFuture.delayedExecutor(
              Driver.seconds(call, "cancelAfter").toMillis(), TimeUnit.MILLISECONDS)
          .execute(Thread.currentThread()::interrupt);
    }
    try {
      return Methods.isStream(call)
          ? read(client, call, parts) : Methods.call(client, call);
    } finally {
      Thread.interrupted(); // it has been seen
    }
  }

  private static Object read(AttendClient client, JsonObject call, List<String> parts) {
    try (var stream = (TextStream) Methods.call(client, call)) {
      for (var part : stream) {
        parts.add(part);
        if (!CallMaker.goesOn(client, call, parts)) {
          break;
        }
      }
    }
    return parts;
  }
}
