package attend;

import io.grpc.Status;

/**
 * The text of a stream that may have been made several times. Each time it begins
 * anew, and what has been seen is left out. Results are the same each time,
 * whatever else the servers do, if the seed is.
 */
final class Replay {
  private final StringBuilder seen = new StringBuilder();
  private int at; // the length of the current attempt's text

  boolean begun() {
    return seen.length() > 0;
  }

  /** The next part is the first of a new attempt. */
  void again() {
    at = 0;
  }

  /** What of an attempt's next part has not been seen. */
  String next(String part) {
    var known = seen.substring(
        Math.min(at, seen.length()), Math.min(at + part.length(), seen.length()));
    if (!part.startsWith(known)) {
      throw anotherText();
    }
    at += part.length();
    var found = part.substring(known.length());
    seen.append(found);
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
