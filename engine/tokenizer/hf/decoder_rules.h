#ifndef ATTEND_ENGINE_TOKENIZER_HF_DECODER_RULES_H_
#define ATTEND_ENGINE_TOKENIZER_HF_DECODER_RULES_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// How the decoder of a tokenizer.json makes text of tokens, token by token if
// that is possible. Immutable.
struct DecoderRules {
  enum class Kind {
    // Tokens are joined with spaces.
    kSpaced,
    // Each character of a token stands for a byte. Bytes that are not
    // characters become U+FFFD.
    kByteLevel,
    // A space stands before each token that does not continue the token before.
    kWordPiece,
    // A mark in a token stands for a space. Marks of the first token may be
    // removed.
    kMetaspace,
    // Strings in tokens are replaced, and "<0x41>" stands for a byte. If a run
    // of bytes is not valid UTF-8, each of its bytes becomes U+FFFD.
    kByteFallback,
    // The text is known only when all tokens are known.
    kWhole,
  };

  Kind kind = Kind::kWhole;
  bool clean_up = false;           // kWordPiece: CleanUpToken() of each token
  std::string continuing = "##";   // kWordPiece: how a continuing token begins
  std::string mark;                // kMetaspace
  bool first_loses_marks = false;  // kMetaspace
  // kByteFallback: {old, new}, applied in this order.
  std::vector<std::pair<std::string, std::string>> replacements;
  // kByteFallback: a string that is removed from the start of the text, at most
  // max_stripped times.
  std::string stripped;
  int max_stripped = 0;

  // The bytes that a token which is not the first adds to the text.
  std::string TokenText(absl::string_view token) const;
  // The bytes that the first token adds.
  std::string FirstText(absl::string_view token) const;
  // Whether the text loses a space that its first token begins with.
  bool FirstLosesSpace() const;
  // Whether the token is a byte (kByteFallback).
  bool IsByte(absl::string_view token) const;
};

// The rules of `decoder`, the value of "decoder" in a tokenizer.json, which may
// be null. kWhole if the text cannot be made token by token.
DecoderRules ParseDecoderRules(const nlohmann::json& decoder);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_HF_DECODER_RULES_H_
