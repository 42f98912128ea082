import attend.AttendClient;
import attend.AttendException;
import attend.Inputs;
import com.google.gson.JsonObject;
import java.util.List;

/** Makes calls by one of the two clients. */
interface CallMaker {
  /** The method's answer, or the parts of its stream, which it adds to `parts`. */
  Object make(AttendClient client, JsonObject call, List<String> parts);

  /** Does what a case wants when a part has come; false: no more parts are wanted. */
  static boolean goesOn(AttendClient client, JsonObject call, List<String> parts) {
    if (call.has("atFirstPart") && parts.size() == 1) {
      try {
        client.generate(Inputs.texts(call.get("atFirstPart").getAsString()));
      } catch (AttendException ignored) {
        // the server dies of it
      }
    }
    return !call.has("stopAfter") || parts.size() < call.get("stopAfter").getAsInt();
  }
}
