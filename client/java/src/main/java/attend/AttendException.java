package attend;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A call failed, or one of its inputs. */
public final class AttendException extends RuntimeException {
  private static final long serialVersionUID = 1;
  /** How grpc-java reports a call that was cut off in the middle, with several codes. */
  private static final String BROKEN = "RST_STREAM closed stream";

  private final Status.Code code;
  private final String details;
  private final Duration retryAfter;
  private final boolean isFinal;
  private final Integer input;
  private final transient List<Object> results;

  private AttendException(Status.Code code, String details, Duration retryAfter,
      boolean isFinal, Integer input, List<Object> results, Throwable cause) {
    super(code + ": " + (input == null ? "" : "input " + input + ": ") + details, cause);
    this.code = code;
    this.details = details;
    this.retryAfter = retryAfter;
    this.isFinal = isFinal;
    this.input = input;
    this.results = results;
  }

  /** Of this client, not of a server. It is not retried. */
  AttendException(Status.Code code, String details) {
    this(code, details, null, true, null, List.of(), null);
  }

  /** What gRPC says of an attempt that failed. */
  static AttendException of(Status status, Metadata trailers) {
    var hint = RetryHint.of(trailers);
    return new AttendException(status.getCode(),
        status.getDescription() == null ? "" : status.getDescription(),
        hint.after(), hint.isFinal(), null, List.of(),
        new StatusRuntimeException(status, trailers));
  }

  /** The error of an input. */
  static AttendException of(attend.v1.Status status, int input) {
    return new AttendException(Status.fromCodeValue(status.getCode()).getCode(),
        status.getMessage(), null, true, input, List.of(), null);
  }

  AttendException withResults(List<Object> found) {
    return new AttendException(code, details, retryAfter, isFinal, input, found, getCause());
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

  /** Whether the call may be made again. */
  boolean retriable() {
    return !isFinal && (code == Status.Code.UNAVAILABLE || details.startsWith(BROKEN)
        || (code == Status.Code.RESOURCE_EXHAUSTED && retryAfter != null));
  }
}
