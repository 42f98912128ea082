package attend;

import attend.v1.FinishReason;
import attend.v1.GenerateChunk;
import attend.v1.GenerateRequest;
import attend.v1.GenerationParams;
import attend.v1.GenerationParams.ForcedPrefixCase;
import attend.v1.Model;
import attend.v1.Tokens;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The text of a stream that may have been made several times. Results are the same
 * each time, whatever else the servers do, if the seed is. A stream is made again
 *
 * <ul>
 *   <li>by its tokens so far as forced prefix: they are not computed again one by one.
 *       For models that continue text, by greedy search;
 *   <li>else from its beginning, and what has been seen is left out.
 * </ul>
 */
final class Replay {
  // With these set the rest of a result is not what a result is that begins with the
  // tokens so far, or text may be held back.
  private static final List<String> NOT_CONTINUED = List.of(
      "do_sample", "presence_penalty", "frequency_penalty", "echo", "prompt_log_probs");

  private final StringBuilder seen = new StringBuilder();
  private int at; // the length of the current attempt's text
  private int known; // of what was seen, before the current attempt
  private final List<Integer> ids = new ArrayList<>(); // of that text
  private boolean ended; // the last token has come

  boolean begun() {
    return seen.length() > 0;
  }

  /** Whether the attempt that has failed brought something new. */
  boolean wentOn() {
    int before = known;
    known = seen.length();
    return known > before;
  }

  /** Whether it depends on the model alone that a forced prefix will do. */
  boolean mayContinue(Object request) {
    if (!(request instanceof GenerateRequest generate) || ids.isEmpty() || ended) {
      return false;
    }
    var params = generate.getParams();
    return params.hasMaxNewTokens() && !params.hasConstraint()
        && params.getForcedPrefixCase() == ForcedPrefixCase.FORCEDPREFIX_NOT_SET;
  }

  /** The request of the next attempt. {@code model}: null if it may not continue. */
  <Q> Q again(Q request, Model model) {
    if (model == null || !(request instanceof GenerateRequest generate)
        || !continues(generate.getParams(), model)) {
      at = 0;
      ids.clear();
      return request;
    }
    var params = generate.getParams();
    int least = (Integer) setting(params, model, "min_new_tokens");
    int most = params.getMaxNewTokens(); // 0: as many as there is room for
    var rest = params.toBuilder()
        .setPrefixTokens(Tokens.newBuilder().addAllIds(ids))
        .setMinNewTokens(Math.max(0, least - ids.size()))
        .setMaxNewTokens(most == 0 ? 0 : most - ids.size());
    @SuppressWarnings("unchecked") // it is a GenerateRequest
    var again = (Q) generate.toBuilder().setParams(rest).build();
    return again;
  }

  private boolean continues(GenerationParams params, Model model) {
    var last = ids.get(ids.size() - 1);
    int most = params.getMaxNewTokens();
    return model.getContinuesSource()
        && (most == 0 || most > ids.size())
        && !model.getEosIdsList().contains(last)
        && !params.getStopIdsList().contains(last)
        && setting(params, model, "num_beams").equals(1)
        && setting(params, model, "num_return_sequences").equals(1)
        && NOT_CONTINUED.stream().noneMatch(name -> isSet(setting(params, model, name)))
        && Stream.of(params, model.getDefaults()).allMatch(each ->
            each.getStopStringsCount() + each.getBeginSuppressTokensCount() == 0);
  }

  /** A parameter of a request, or the model's default. */
  private static Object setting(GenerationParams params, Model model, String name) {
    var field = GenerationParams.getDescriptor().findFieldByName(name);
    return (params.hasField(field) ? params : model.getDefaults()).getField(field);
  }

  private static boolean isSet(Object value) {
    return value instanceof Boolean flag ? flag : ((Number) value).doubleValue() != 0;
  }

  /** What of an attempt's next part, the text of this message, has not been seen. */
  String next(String part, Object message) {
    var known = seen.substring(
        Math.min(at, seen.length()), Math.min(at + part.length(), seen.length()));
    if (!part.startsWith(known)) {
      throw anotherText();
    }
    at += part.length();
    var found = part.substring(known.length());
    seen.append(found);
    if (message instanceof GenerateChunk chunk) {
      ids.addAll(chunk.getIdsList());
      ended |= chunk.getFinishReason() != FinishReason.FINISH_REASON_UNSPECIFIED;
    }
    return found;
  }

  /** The attempt ends well; that it ends before what has been seen does not. */
  void end() {
    if (at < seen.length()) {
      throw anotherText();
    }
  }

  private static AttendException anotherText() {
    return new AttendException(Status.Code.UNAVAILABLE,
        "the stream broke off, and has another text when it is made again");
  }
}
