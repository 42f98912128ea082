#ifndef ATTEND_ENGINE_TOKENIZER_GGUF_PRE_TOKENIZERS_H_
#define ATTEND_ENGINE_TOKENIZER_GGUF_PRE_TOKENIZERS_H_

#include <array>
#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// Division of a text into words before it is cut into tokens: a value of
// tokenizer.ggml.pre, with the meaning that llama.cpp gives it.
struct PreTokenizer {
  absl::string_view names;  // separated by spaces
  // Regular expressions. The first cuts the text into matches and what is
  // between them, the next cuts these parts, and so on.
  std::array<const char*, 6> splits = {};
  bool whole_words = false;  // a word that is a token is not cut
  bool adds_bos = false;     // unless the file says otherwise
  // Tokens are spelled in bytes, as GPT-2's. False: in characters.
  bool bytes = true;
  bool marks_spaces = false;  // a space is spelled as U+2581
};

// Null if llama.cpp does not know the name. The empty name has GPT-2's words.
const PreTokenizer* FindPreTokenizer(absl::string_view name);

// All names, separated by ", ".
std::string PreTokenizerNames();

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_GGUF_PRE_TOKENIZERS_H_
