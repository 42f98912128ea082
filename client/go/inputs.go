package attend

import "attend.internal/attend/attendv1"

// Text is an input that is a text.
func Text(text string) *attendv1.Input {
	return &attendv1.Input{Input: &attendv1.Input_Text{Text: text}}
}

// Texts are inputs that are texts.
func Texts(texts ...string) []*attendv1.Input {
	inputs := make([]*attendv1.Input, len(texts))
	for i, text := range texts {
		inputs[i] = Text(text)
	}
	return inputs
}

// Tokens is an input of token ids, special tokens included.
func Tokens(ids ...int32) *attendv1.Input {
	return &attendv1.Input{Input: &attendv1.Input_Tokens{
		Tokens: &attendv1.Tokens{Ids: ids}}}
}

// Pair is a pair of texts, for Classify.
func Pair(first, second string) *attendv1.Input {
	input := Text(first)
	input.Pair = &second
	return input
}

// Chat is a conversation, for models that chat.
func Chat(messages ...*attendv1.ChatMessage) *attendv1.Input {
	return &attendv1.Input{Input: &attendv1.Input_Chat{
		Chat: &attendv1.Chat{Messages: messages}}}
}
