import attend.AttendClient;
import attend.AttendException;
import attend.Inputs;
import attend.Retry;
import attend.Tls;
import attend.v1.GenerateResult;
import attend.v1.Model;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/**
 * Runs cases by the Java package: `blocking` or `async`. Each line that comes in is a
 * case, each line that goes out its outcome; see ../README.md.
 */
public final class Driver {
  private static final Gson GSON = new GsonBuilder().serializeNulls().create();
  private static AttendClient kept; // of cases with `keep`

  private Driver() {}

  public static void main(String[] arguments) throws IOException {
    CallMaker maker = switch (arguments[0]) {
      case "blocking" -> new BlockingCalls();
      case "async" -> new AsyncCalls();
      default -> throw new IllegalArgumentException(arguments[0]);
    };
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String line; (line = in.readLine()) != null;) {
      out.println(GSON.toJson(run(JsonParser.parseString(line).getAsJsonObject(), maker)));
    }
    if (kept != null) {
      kept.close();
    }
  }

  private static Map<String, Object> run(JsonObject given, CallMaker maker) {
    if (given.has("keep")) {
      kept = kept == null ? clientOf(given) : kept;
      return outcomeOf(kept, given.getAsJsonObject("call"), maker);
    }
    try (var client = clientOf(given)) {
      return outcomeOf(client, given.getAsJsonObject("call"), maker);
    } catch (IllegalArgumentException | UncheckedIOException error) {
      return Map.of("refused", error.getMessage());
    }
  }

  private static Map<String, Object> outcomeOf(
      AttendClient client, JsonObject call, CallMaker maker) {
    // Until so many servers have answered.
    var seen = new HashSet<String>();
    while (seen.size() < number(call, "warm", 0)) {
      seen.add(client.generate(Inputs.texts("a")).get(0).getChoices(0).getText());
    }
    var configured = client;
    if (call.has("timeout")) {
      configured = configured.withTimeout(seconds(call, "timeout"));
    }
    for (var pair : strings(call, "metadata").entrySet()) {
      configured = configured.withMetadata(pair.getKey(), pair.getValue());
    }
    if (call.has("traceparent")) {
      configured = configured.withMetadata(
          "traceparent", call.get("traceparent").getAsString());
    }
    var outcome = new HashMap<String, Object>();
    var values = new ArrayList<Object>();
    var parts = new ArrayList<String>();
    outcome.put("values", values);
    long begin = System.nanoTime();
    try {
      for (int i = 0; i < number(call, "times", 1); i++) {
        var answer = maker.make(configured, call, parts);
        values.add(answer instanceof Model model ? model.getFamily() : Methods.read(answer));
      }
    } catch (AttendException error) {
      addError(outcome, error, parts);
    } catch (AsyncCalls.Cancelled error) {
      outcome.put("code", "CANCELLED");
    }
    outcome.put("seconds", (System.nanoTime() - begin) / 1e9);
    return outcome;
  }

  private static void addError(
      Map<String, Object> outcome, AttendException error, List<String> parts) {
    outcome.put("code", error.code().name());
    outcome.put("message", error.details());
    outcome.put("retryAfter",
        error.retryAfter().map(after -> after.toMillis() / 1000.0).orElse(null));
    outcome.put("input", error.input().isPresent() ? error.input().getAsInt() : null);
    if (!parts.isEmpty()) {
      outcome.put("value", parts);
    }
    outcome.put("others", error.results().stream()
        .filter(GenerateResult.class::isInstance)
        .map(result -> ((GenerateResult) result).getChoices(0).getText()).toList());
  }

  private static AttendClient clientOf(JsonObject given) {
    var target = given.get("target");
    var options = given.getAsJsonObject("client");
    var builder = target.isJsonNull()
        ? AttendClient.builder() : AttendClient.builder(target.getAsString());
    builder.environment(strings(given, "environment"));
    builder.retry(Retry.DEFAULT.withMaxAttempts(number(options, "maxAttempts", 4)));
    for (var key : options.keySet()) {
      switch (key) {
        case "model" -> builder.model(options.get(key).getAsString());
        case "token" -> builder.token(options.get(key).getAsString());
        case "timeout" -> builder.timeout(seconds(options, key));
        case "healthChecks" -> builder.healthChecks(options.get(key).getAsBoolean());
        case "tls" -> builder.tls(tlsOf(strings(options, key)));
        default -> { }
      }
    }
    return builder.build();
  }

  private static Tls tlsOf(Map<String, String> files) {
    var tls = Tls.DEFAULT.withCa(Path.of(files.get("ca")))
        .withServerName(files.get("serverName"));
    return files.containsKey("cert")
        ? tls.withCert(Path.of(files.get("cert")), Path.of(files.get("key"))) : tls;
  }

  private static int number(JsonObject from, String key, int otherwise) {
    return from.has(key) ? from.get(key).getAsInt() : otherwise;
  }

  static Duration seconds(JsonObject from, String key) {
    return Duration.ofMillis((long) (1000 * from.get(key).getAsDouble()));
  }

  private static Map<String, String> strings(JsonObject from, String key) {
    var found = new HashMap<String, String>();
    if (from.has(key)) {
      from.getAsJsonObject(key).asMap().forEach(
          (name, value) -> found.put(name, value.getAsString()));
    }
    return found;
  }
}
