package attend;

import attend.v1.Input;
import attend.v1.ScorePair;
import com.google.protobuf.Message;
import io.grpc.Metadata;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/** What calls have in common that begin alike, so that they go to one server. */
final class Affinity {
  /** Proxies send calls with one value of it to one server, too. */
  static final Metadata.Key<String> HEADER =
      Metadata.Key.of("x-attend-affinity", Metadata.ASCII_STRING_MARSHALLER);
  private static final List<String> FIELDS =
      List.of("inputs", "documents", "pairs", "texts", "query");

  private Affinity() {}

  /**
   * Of the first bytes of what a request asks about first; null if it asks about
   * nothing, or nobody wants it.
   */
  static String keyOf(Object request, int bytes) {
    if (bytes <= 0 || !(request instanceof Message message)) {
      return null;
    }
    for (var name : FIELDS) {
      var field = message.getDescriptorForType().findFieldByName(name);
      if (field == null) {
        continue;
      }
      if (!field.isRepeated()) {
        var text = message.getField(field).toString();
        return text.isEmpty() ? null : hash(text, bytes);
      }
      if (message.getRepeatedFieldCount(field) > 0) {
        return hash(textOf(message.getRepeatedField(field, 0)), bytes);
      }
    }
    return null;
  }

  private static String textOf(Object first) {
    if (first instanceof ScorePair pair) {
      return textOf(pair.getSource());
    }
    if (!(first instanceof Input input)) {
      return first.toString();
    }
    if (input.hasChat()) {
      return input.getChat().getMessagesList().stream()
          .map(message -> message.getRole() + "\0" + message.getContent())
          .collect(Collectors.joining("\0"));
    }
    if (input.hasTokens()) {
      return input.getTokens().getIdsList().stream()
          .map(String::valueOf).collect(Collectors.joining(" "));
    }
    return input.getText();
  }

  private static String hash(String text, int bytes) {
    try {
      var begin = text.getBytes(StandardCharsets.UTF_8);
      var sha = MessageDigest.getInstance("SHA-256");
      sha.update(begin, 0, Math.min(bytes, begin.length));
      return HexFormat.of().formatHex(sha.digest(), 0, 8);
    } catch (NoSuchAlgorithmException error) {
      throw new IllegalStateException(error); // each Java has it
    }
  }
}
