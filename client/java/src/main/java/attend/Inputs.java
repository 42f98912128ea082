package attend;

import attend.v1.Chat;
import attend.v1.ChatMessage;
import attend.v1.Input;
import attend.v1.Tokens;
import java.util.List;
import java.util.stream.Stream;

/** What a model can be asked about. */
public final class Inputs {
  private Inputs() {}

  /** An input that is a text. */
  public static Input text(String text) {
    return Input.newBuilder().setText(text).build();
  }

  /** Inputs that are texts. */
  public static List<Input> texts(String... texts) {
    return Stream.of(texts).map(Inputs::text).toList();
  }

  /** An input of token ids, special tokens included. */
  public static Input tokens(Iterable<Integer> ids) {
    return Input.newBuilder().setTokens(Tokens.newBuilder().addAllIds(ids)).build();
  }

  /** A pair of texts, for {@code classify}. */
  public static Input pair(String first, String second) {
    return Input.newBuilder().setText(first).setPair(second).build();
  }

  /** A conversation, for models that chat. */
  public static Input chat(ChatMessage... messages) {
    return Input.newBuilder()
        .setChat(Chat.newBuilder().addAllMessages(List.of(messages)))
        .build();
  }

  /** A message of a conversation. */
  public static ChatMessage message(String role, String content) {
    return ChatMessage.newBuilder().setRole(role).setContent(content).build();
  }
}
