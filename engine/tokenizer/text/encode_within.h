#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_ENCODE_WITHIN_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_ENCODE_WITHIN_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// The least limit: every model takes texts of this many bytes.
inline constexpr size_t kMinTextLimit = 64 << 10;

// The most bytes of a text that may have at most `tokens` tokens: `tokens`
// times the bytes of the longest token, but at least kMinTextLimit.
//
// A text of more bytes has more tokens, with two exceptions, which are refused
// too: most of the text is what the tokenizer leaves out (runs of spaces,
// control characters, combining marks), or what the tokenizer makes a single
// token of (runs of unknown characters, for WordPiece also words of hundreds of
// letters).
size_t MaxTextBytes(const Tokenizer& tokenizer, int tokens);

inline bool NeverEnds() { return false; }

// How much of a text and of its pair is tokenised.
struct TextLimits {
  int tokens = 0;  // the most tokens of the encoding, special ones included
  // True: a longer encoding is cut to `tokens`. False: it is an error.
  bool truncate = false;
  // Asked before each part of a long text. True ends the work with CANCELLED.
  absl::FunctionRef<bool()> ended = NeverEnds;
};

// The same as Encode(input), truncated to the limits, but reads no more of the
// texts than that needs: the limits bound the time, however long the texts are.
// `input.max_tokens` must be 0.
//
// A text is read up to a space where it has a few tokens more than will be
// kept. The kept tokens are those of the whole text, unless the text has
// kMinTextLimit bytes without a space. If a text and its pair are both cut, and
// an odd number of tokens is left for both, the one that has more tokens in
// what was read counts as the longer one.
//
// INVALID_ARGUMENT names the limit. CANCELLED if limits.ended() is true. If
// `truncate` is false, the caller must have checked MaxTextBytes().
absl::StatusOr<Encoding> EncodeWithin(const Tokenizer& tokenizer,
                                      EncodeInput input,
                                      const TextLimits& limits);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_ENCODE_WITHIN_H_
