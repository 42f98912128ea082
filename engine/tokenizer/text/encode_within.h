#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_ENCODE_WITHIN_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_ENCODE_WITHIN_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// The least limit: every model takes texts of this many bytes.
inline constexpr size_t kMinTextLimit = 64 << 10;
// At least this many bytes of a text are read before it is cut for its bytes.
inline constexpr size_t kMinCutLimit = 1 << 20;

// The most bytes of a text that may have at most `tokens` tokens: `tokens`
// times the bytes of the longest token, but at least kMinTextLimit.
//
// A text of more bytes has more tokens, with two exceptions, which are refused
// too unless they may be cut: most of the text is what the tokenizer leaves out
// (runs of spaces, control characters, combining marks), or what the tokenizer
// makes a single token of (runs of unknown characters, for WordPiece also words
// of hundreds of letters).
size_t MaxTextBytes(const Tokenizer& tokenizer, int tokens);

// The most bytes that are read of a text that is cut to `tokens` tokens:
// MaxTextBytes(), but at least kMinCutLimit.
size_t MaxCutBytes(const Tokenizer& tokenizer, int tokens);

inline bool NeverEnds() { return false; }

// How much of a text and of its pair is tokenised.
struct TextLimits {
  int tokens = 0;  // the most tokens of the encoding, special ones included
  // True: a longer encoding is cut to `tokens`, and a text that has fewer
  // tokens in MaxCutBytes() is cut there. False: both are errors.
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
// kMinTextLimit bytes without a space or is cut at MaxCutBytes(). If a text and
// its pair are both cut, and an odd number of tokens is left for both, the one
// that has more tokens in what was read counts as the longer one. If the
// tokenizer refuses a longer part of a text because it would take too long, a
// shorter part that it took is what is read.
//
// INVALID_ARGUMENT names the limit. CANCELLED if limits.ended() is true. If
// `truncate` is false, the caller must have checked MaxTextBytes().
absl::StatusOr<Encoding> EncodeWithin(const Tokenizer& tokenizer,
                                      EncodeInput input,
                                      const TextLimits& limits);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_ENCODE_WITHIN_H_
