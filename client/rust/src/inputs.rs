use crate::v1::{input, Chat, ChatMessage, Input, Tokens};

impl From<String> for Input {
    fn from(text: String) -> Self {
        Self { input: Some(input::Input::Text(text)), ..Self::default() }
    }
}

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Input {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

/// An input of token ids, special tokens included.
pub fn tokens(ids: impl Into<Vec<i32>>) -> Input {
    let tokens = Tokens { ids: ids.into(), ..Tokens::default() };
    Input { input: Some(input::Input::Tokens(tokens)), ..Input::default() }
}

/// A pair of texts, for `classify`.
pub fn pair(first: impl Into<String>, second: impl Into<String>) -> Input {
    Input { pair: Some(second.into()), ..Input::from(first.into()) }
}

/// A conversation, for models that chat.
pub fn chat(messages: impl Into<Vec<ChatMessage>>) -> Input {
    let chat = Chat { messages: messages.into(), ..Chat::default() };
    Input { input: Some(input::Input::Chat(chat)), ..Input::default() }
}

/// A message of a conversation.
pub fn message(role: impl Into<String>, content: impl Into<String>) -> ChatMessage {
    ChatMessage { role: role.into(), content: content.into(), ..ChatMessage::default() }
}
