#ifndef ATTEND_ENGINE_TOKENIZER_HF_DECODER_RULES_H_
#define ATTEND_ENGINE_TOKENIZER_HF_DECODER_RULES_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// How a tokenizer.json's decoder makes text from tokens, so far as it can be
// done token by token. Immutable.
struct DecoderRules {
  enum class Kind {
    // Tokens with a space between them.
    kSpaced,
    // Characters stand for bytes; what is not a character becomes U+FFFD.
    kByteLevel,
    // A space before each token that does not continue the one before.
    kWordPiece,
    // A mark in a token stands for a space; those of the first token may go.
    kMetaspace,
    // Strings in tokens are replaced; "<0x41>" is a byte. A run of bytes that
    // is not all characters becomes U+FFFD for each of them.
    kByteFallback,
    // Nothing is known before the last token is.
    kWhole,
  };

  Kind kind = Kind::kWhole;
  bool clean_up = false;           // kWordPiece: each token by itself
  std::string continuing = "##";   // kWordPiece
  std::string mark;                // kMetaspace
  bool first_loses_marks = false;  // kMetaspace
  std::vector<std::pair<std::string, std::string>> replacements;
  // kByteFallback: taken off the start of the text, up to so many times.
  std::string stripped;
  int max_stripped = 0;

  // What a token that is not the first adds to the text, in bytes.
  std::string TokenText(absl::string_view token) const;
  // The same of the first token.
  std::string FirstText(absl::string_view token) const;
  // kByteFallback: whether the token is a byte.
  bool IsByte(absl::string_view token) const;
};

// `decoder`: as tokenizer.json has it; null is one, too. What cannot be done
// token by token is kWhole.
DecoderRules ParseDecoderRules(const nlohmann::json& decoder);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_HF_DECODER_RULES_H_
