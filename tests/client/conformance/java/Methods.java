import attend.v1.Choice;
import attend.v1.ClassifyRequest;
import attend.v1.ClassifyResult;
import attend.v1.DetokenizeRequest;
import attend.v1.EmbedRequest;
import attend.v1.FillMaskRequest;
import attend.v1.FillMaskResult;
import attend.v1.GenerateRequest;
import attend.v1.GenerateResult;
import attend.v1.Model;
import attend.v1.RerankRequest;
import attend.v1.RerankResult;
import attend.v1.ScoreRequest;
import attend.v1.ScoreResult;
import attend.v1.TokenizeRequest;
import attend.v1.Tokenization;
import attend.v1.Tokens;
import attend.v1.TranslateRequest;
import attend.v1.Translation;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The methods of both clients, by their names, which they have in common. */
final class Methods {
  private static final List<String> POSITIONAL =
      List.of("inputs", "documents", "pairs", "query", "texts", "sequences");
  private static final Map<String, Message> REQUESTS = Map.ofEntries(
      Map.entry("generate", GenerateRequest.getDefaultInstance()),
      Map.entry("stream", GenerateRequest.getDefaultInstance()),
      Map.entry("translate", TranslateRequest.getDefaultInstance()),
      Map.entry("translateStream", TranslateRequest.getDefaultInstance()),
      Map.entry("score", ScoreRequest.getDefaultInstance()),
      Map.entry("embed", EmbedRequest.getDefaultInstance()),
      Map.entry("embedTokens", EmbedRequest.getDefaultInstance()),
      Map.entry("classify", ClassifyRequest.getDefaultInstance()),
      Map.entry("fillMask", FillMaskRequest.getDefaultInstance()),
      Map.entry("rerank", RerankRequest.getDefaultInstance()),
      Map.entry("tokenize", TokenizeRequest.getDefaultInstance()),
      Map.entry("detokenize", DetokenizeRequest.getDefaultInstance()));

  private Methods() {}

  /** Calls a client's method with a call's request: an answer, a future or a stream. */
  static Object call(Object client, JsonObject call) {
    var name = call.get("method").getAsString();
    var given = argumentsOf(name, call);
    for (var method : client.getClass().getMethods()) {
      if (method.getName().equals(name)) {
        try {
          return method.invoke(client, given);
        } catch (InvocationTargetException error) {
          throw (RuntimeException) error.getCause();
        } catch (IllegalAccessException error) {
          throw new IllegalStateException(error);
        }
      }
    }
    throw new IllegalStateException("no method " + name);
  }

  private static Object[] argumentsOf(String name, JsonObject call) {
    if (!call.has("request")) {
      return plainArguments(call);
    }
    var request = parse(call.getAsJsonObject("request"), REQUESTS.get(name));
    var rest = request.toBuilder();
    var arguments = Stream.<Object>builder();
    for (var field : request.getDescriptorForType().getFields()) {
      if (POSITIONAL.contains(field.getName())) {
        arguments.add(argument(name, request.getField(field)));
        rest.clearField(field);
      }
    }
    Consumer<?>[] options = {
      builder -> ((Message.Builder) builder).mergeFrom(rest.build())
    };
    return arguments.add(options).build().toArray();
  }

  private static Object[] plainArguments(JsonObject call) {
    var arguments = Stream.<Object>builder();
    if (call.has("name")) {
      arguments.add(call.get("name").getAsString());
    }
    if (call.has("version")) {
      arguments.add(call.get("version").getAsLong());
    }
    if (call.has("targets")) {
      var targets = new HashMap<String, Integer>();
      call.getAsJsonObject("targets").asMap().forEach(
          (model, weight) -> targets.put(model, weight.getAsInt()));
      arguments.add(targets);
    }
    if (call.has("seconds")) {
      arguments.add(Driver.seconds(call, "seconds"));
    }
    return arguments.build().toArray();
  }

  private static Object argument(String name, Object value) {
    if (name.toLowerCase().endsWith("stream")) {
      return ((List<?>) value).get(0);
    }
    return name.equals("detokenize")
        ? ((List<?>) value).stream().map(ids -> ((Tokens) ids).getIdsList()).toList() : value;
  }

  private static Message parse(JsonObject json, Message type) {
    var builder = type.toBuilder();
    try {
      JsonFormat.parser().merge(json.toString(), builder);
    } catch (InvalidProtocolBufferException error) {
      throw new IllegalStateException(error);
    }
    return builder.build();
  }

  /** An answer in the form of the cases. */
  static Object read(Object answer) {
    return answer instanceof List<?> list
        ? list.stream().map(Methods::readOne).toList() : readOne(answer);
  }

  private static Object readOne(Object result) {
    if (result instanceof GenerateResult found) {
      return found.getChoicesList().stream().map(Choice::getText).toList();
    } else if (result instanceof Translation found) {
      return found.getText();
    } else if (result instanceof ScoreResult found) {
      return found.getLogProb();
    } else if (result instanceof ClassifyResult found) {
      return labels(found);
    } else if (result instanceof FillMaskResult found) {
      return found.getText();
    } else if (result instanceof RerankResult found) {
      return List.of(found.getIndex(), found.getScore());
    } else if (result instanceof Tokenization found) {
      return found.getIdsList();
    } else if (result instanceof Model found) {
      return found.getName();
    } else if (result instanceof byte[] trace) {
      var text = new String(trace, StandardCharsets.UTF_8);
      return new TreeSet<>(JsonParser.parseString(text).getAsJsonObject().keySet());
    }
    return result; // numbers, texts
  }

  private static List<List<?>> labels(ClassifyResult found) {
    var tokens = found.getTokensList().stream().map(token -> List.of(
        token.getToken().getPiece(), token.getToken().getBegin(),
        token.getToken().getEnd(), token.getLabels(0).getLabel(),
        token.getLabels(0).getScore()));
    var labels = found.getLabelsList().stream().map(
        label -> List.of(label.getLabel(), label.getScore()));
    return Stream.<List<?>>concat(tokens, labels).toList();
  }

  static boolean isStream(JsonObject call) {
    return call.get("method").getAsString().toLowerCase().endsWith("stream");
  }
}
