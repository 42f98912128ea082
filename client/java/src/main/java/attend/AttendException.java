package attend;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A call failed, or one of its inputs. */
public final class AttendException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private static final Metadata.Key<String> PUSHBACK = Calls.key("grpc-retry-pushback-ms");

  private final Status.Code code;
  private final String details;
  private final Duration retryAfter;
  private final Integer input;
  private final transient List<Object> results;

  private AttendException(Status.Code code, String details, Duration retryAfter,
      Integer input, List<Object> results, Throwable cause) {
    super(code + ": " + (input == null ? "" : "input " + input + ": ") + details, cause);
    this.code = code;
    this.details = details;
    this.retryAfter = retryAfter;
    this.input = input;
    this.results = results;
  }

  /** Of this client, not of a server. */
  AttendException(Status.Code code, String details) {
    this(code, details, null, null, List.of(), null);
  }

  /** What gRPC says of a call that failed. */
  static AttendException of(Status status, Metadata trailers) {
    var cause = new StatusRuntimeException(status, trailers);
    var details = status.getDescription() == null ? "" : status.getDescription();
    return new AttendException(
        status.getCode(), details, retryAfter(cause), null, List.of(), cause);
  }

  /** Of the trailers; null: the server does not say. */
  private static Duration retryAfter(StatusRuntimeException error) {
    var pushback = error.getTrailers() == null ? null : error.getTrailers().get(PUSHBACK);
    if (pushback != null) { // a negative value and other text forbid a retry (gRFC A6)
      return pushback.matches("\\d{1,18}") ? Duration.ofMillis(Long.parseLong(pushback)) : null;
    }
    try {
      for (var detail : StatusProto.fromThrowable(error).getDetailsList()) {
        if (detail.is(RetryInfo.class)) {
          var delay = detail.unpack(RetryInfo.class).getRetryDelay();
          return Duration.ofSeconds(Math.max(0, delay.getSeconds()), delay.getNanos());
        }
      }
    } catch (InvalidProtocolBufferException ignored) {
      // the details are not ours; the code and the text are
    }
    return null;
  }

  /** The error of an input. */
  static AttendException of(attend.v1.Status status, int input) {
    return new AttendException(Status.fromCodeValue(status.getCode()).getCode(),
        status.getMessage(), null, input, List.of(), null);
  }

  AttendException withResults(List<Object> found) {
    return new AttendException(code, details, retryAfter, input, found, getCause());
  }

  /** The code of gRPC. */
  public Status.Code code() {
    return code;
  }

  /** What is wrong, its value and the limit. */
  public String details() {
    return details;
  }

  /** When the server wants to see the call again. Empty: it does not say. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }

  /** Which of the call's inputs failed. Empty: the whole call. */
  public OptionalInt input() {
    return input == null ? OptionalInt.empty() : OptionalInt.of(input);
  }

  /**
   * If an input failed, a result or an {@code AttendException} for each input, so
   * that the others are not lost.
   */
  public List<Object> results() {
    return results == null ? List.of() : results;
  }
}
