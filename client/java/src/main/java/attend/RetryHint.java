package attend;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import java.time.Duration;

/**
 * What the server says about retries of a call that failed.
 *
 * @param after when it wants to see the call again; null: it does not say
 * @param isFinal whether it asks not to try again
 */
record RetryHint(Duration after, boolean isFinal) {
  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
  private static final long MOST_SECONDS = 315_576_000_000L; // of a protobuf.Duration

  static RetryHint of(Metadata trailers) {
    if (trailers == null) {
      return new RetryHint(null, false);
    }
    var pushback = trailers.get(PUSHBACK);
    return pushback == null
        ? new RetryHint(retryDelay(trailers.get(DETAILS)), false) : ofPushback(pushback);
  }

  /** What is negative or no number means "do not retry" (gRPC A6). */
  private static RetryHint ofPushback(String text) {
    try {
      long milliseconds = Long.parseLong(text);
      if (milliseconds >= 0) {
        return new RetryHint(Duration.ofMillis(milliseconds), false);
      }
    } catch (NumberFormatException ignored) {
      // the same as a negative number
    }
    return new RetryHint(null, true);
  }

  /** Of the google.rpc.RetryInfo in a google.rpc.Status; null if there is none. */
  private static Duration retryDelay(byte[] bytes) {
    if (bytes == null) {
      return null;
    }
    try {
      for (var detail : com.google.rpc.Status.parseFrom(bytes).getDetailsList()) {
        if (detail.is(RetryInfo.class)) {
          var delay = detail.unpack(RetryInfo.class).getRetryDelay();
          long seconds = Math.min(Math.max(0, delay.getSeconds()), MOST_SECONDS);
          var found = Duration.ofSeconds(seconds, delay.getNanos());
          return found.isNegative() ? Duration.ZERO : found;
        }
      }
    } catch (InvalidProtocolBufferException ignored) {
      // the details are not ours; the code and the text are
    }
    return null;
  }
}
