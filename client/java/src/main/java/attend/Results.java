package attend;

import attend.v1.EmbedResult;
import attend.v1.GenerateChunk;
import attend.v1.Status;
import attend.v1.TranslateChunk;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/** Reads answers. */
final class Results {
  private Results() {}

  /**
   * What {@code read} makes of each result. Throws the error of the first that
   * failed. {@code inputOf} is its input; null: its place.
   */
  static <T, R> List<R> readAll(List<T> results, Function<T, Status> statusOf,
      Function<T, R> read, ToIntFunction<T> inputOf) {
    var good = new ArrayList<R>(results.size());
    var all = new ArrayList<Object>(results.size());
    AttendException first = null;
    for (var result : results) {
      if (statusOf.apply(result).getCode() == 0) {
        good.add(read.apply(result));
        all.add(good.get(good.size() - 1));
        continue;
      }
      int input = inputOf == null ? all.size() : inputOf.applyAsInt(result);
      var error = AttendException.of(statusOf.apply(result), input);
      first = first == null ? error : first;
      all.add(error);
    }
    if (first != null) {
      throw first.withResults(Collections.unmodifiableList(all));
    }
    return Collections.unmodifiableList(good);
  }

  static <T> List<T> readAll(List<T> results, Function<T, Status> statusOf) {
    return readAll(results, statusOf, Function.identity(), null);
  }

  /** The vectors of a result: [vectors][width]. */
  static float[][] vectors(EmbedResult result) {
    int width = result.getWidth();
    if (width <= 0) {
      return new float[0][];
    }
    var numbers = result.getData().asReadOnlyByteBuffer()
        .order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
    var rows = new float[numbers.remaining() / width][width];
    for (var row : rows) {
      numbers.get(row);
    }
    return rows;
  }

  /** The vector of a result; empty if the server sent none. */
  static float[] vector(EmbedResult result) {
    var rows = vectors(result);
    return rows.length > 0 ? rows[0] : new float[0];
  }

  /** The text of a chunk, if it is of the first choice. */
  static String text(GenerateChunk chunk) {
    if (chunk.getStatus().getCode() != 0) {
      throw AttendException.of(chunk.getStatus(), chunk.getInput());
    }
    return chunk.getChoice() == 0 ? chunk.getText() : "";
  }

  /** The text of a chunk. */
  static String text(TranslateChunk chunk) {
    if (chunk.getStatus().getCode() != 0) {
      throw AttendException.of(chunk.getStatus(), chunk.getDocument());
    }
    return chunk.getText();
  }
}
