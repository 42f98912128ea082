#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_ENCODE_WITHIN_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_ENCODE_WITHIN_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// Any model takes texts of so many bytes.
inline constexpr size_t kMinTextLimit = 64 << 10;

// Bytes that a text may have which is to be at most `tokens` tokens: as many as
// that number of the longest tokens has, but at least kMinTextLimit.
//
// A text of more bytes has more tokens, unless most of it is of what a
// tokenizer leaves out (runs of spaces, control characters, combining marks) or
// makes one token of (runs of unknown characters, words of hundreds of letters
// for WordPiece). Such a text is refused, too.
size_t MaxTextBytes(const Tokenizer& tokenizer, int tokens);

// How much of a text, and of its pair, is tokenised.
struct TextLimits {
  int tokens = 0;  // of the encoding at most, special ones included
  // Cut to `tokens` what is longer. Else it is an error.
  bool truncate = false;
  // True ends the work, which looks before each part of a long text.
  absl::FunctionRef<bool()> ended = [] { return false; };
};

// What Encode(input), truncated, is, of no more of the texts than that takes:
// the time is bounded by the limits, not by the texts. `input.max_tokens` must
// be 0.
//
// A text is read up to a space after which it has more tokens than are left, a
// few to spare. That changes no token before, unless nothing in it is a space
// for kMinTextLimit bytes. Of a text and its pair that are both cut so to an
// odd number, the one with more tokens up to there counts as the longer one.
//
// INVALID_ARGUMENT names the limit; CANCELLED if `ended`. Without `truncate`
// the caller has checked MaxTextBytes().
absl::StatusOr<Encoding> EncodeWithin(const Tokenizer& tokenizer,
                                      EncodeInput input,
                                      const TextLimits& limits);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_ENCODE_WITHIN_H_
