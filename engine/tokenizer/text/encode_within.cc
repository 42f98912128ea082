#include "engine/tokenizer/text/encode_within.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/too_many_tokens.h"

namespace attend {
namespace {

// Texts of living languages have two to six bytes a token. So the first part of
// most texts is the whole text, or is enough to cut the text.
constexpr size_t kPartBytesPerToken = 16;
constexpr size_t kMinPart = 4 << 10;
constexpr size_t kGrowth = 4;
// Tokens near the end of a part are not yet those of the whole text.
constexpr int kSpareTokens = 64;

bool IsWordEnd(absl::string_view text, size_t at) {
  return absl::ascii_isspace(text[at]) && !absl::ascii_isspace(text[at - 1]);
}

bool IsInsideCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// The end of the first `part` bytes, moved on to the end of a word if there is
// one soon, and at least to the end of a character.
size_t EndOfPart(absl::string_view text, size_t part, TruncationSide side) {
  const auto place = [&](size_t from_start) {
    return side == TruncationSide::kRight ? from_start
                                          : text.size() - from_start;
  };
  const size_t reach = std::min(part + kMinTextLimit, text.size());
  for (size_t at = part; at < reach; ++at) {
    if (IsWordEnd(text, place(at))) return at;
  }
  while (part < text.size() && IsInsideCharacter(text[place(part)])) ++part;
  return part;
}

// A text, and how much of it is tokenised.
struct Part {
  absl::string_view whole;
  absl::string_view text;  // of `whole`

  bool is_whole() const { return text.size() == whole.size(); }
  void Take(size_t bytes, TruncationSide side) {
    text = whole;
    if (whole.size() <= bytes) return;
    const size_t end = EndOfPart(whole, bytes, side);
    text = side == TruncationSide::kRight ? whole.substr(0, end)
                                          : whole.substr(whole.size() - end);
  }
};

absl::Status TooMany(const Part (&parts)[2], const Encoding& encoding,
                     int limit) {
  const int number = parts[0].is_whole() ? 1 : 0;
  return TooManyTokensError(absl::StrFormat(
      "%s has %d bytes, of which %d are already %d tokens, limit is %d tokens",
      number == 0 ? "text" : "pair", parts[number].whole.size(),
      parts[number].text.size(), encoding.text_tokens[number], limit));
}

absl::Status TooLong(const Part& part, bool is_pair, size_t limit) {
  return TooManyTokensError(absl::StrFormat(
      "%s has %d bytes, limit is %d for a text of so few tokens",
      is_pair ? "pair" : "text", part.whole.size(), limit));
}

// Turns places in a part into places in the text. (The part may be the end of
// the text.)
void MoveOrigins(const Part (&parts)[2], Encoding& encoding) {
  for (TokenOrigin& origin : encoding.origins) {
    if (origin.text < 0) continue;
    const Part& part = parts[origin.text];
    const int moved = static_cast<int>(part.text.data() - part.whole.data());
    origin.begin += moved;
    origin.end += moved;
  }
}

}  // namespace

size_t MaxTextBytes(const Tokenizer& tokenizer, int tokens) {
  return std::max(kMinTextLimit,
                  static_cast<size_t>(tokens) * tokenizer.longest_token());
}

size_t MaxCutBytes(const Tokenizer& tokenizer, int tokens) {
  return std::max(kMinCutLimit, MaxTextBytes(tokenizer, tokens));
}

absl::StatusOr<Encoding> EncodeWithin(const Tokenizer& tokenizer,
                                      EncodeInput input,
                                      const TextLimits& limits) {
  const TruncationSide side = tokenizer.truncation_side();
  const size_t most = limits.truncate ? MaxCutBytes(tokenizer, limits.tokens)
                                      : MaxTextBytes(tokenizer, limits.tokens);
  Part parts[2] = {{input.text, ""}, {input.pair.value_or(""), ""}};
  // The last encoding of parts of the texts, if it may be the result.
  std::optional<Encoding> cut;
  size_t bytes = std::max(kMinPart, kPartBytesPerToken * limits.tokens);
  input.max_tokens = limits.truncate ? limits.tokens : 0;
  while (true) {
    if (limits.ended()) return absl::CancelledError("cancelled");
    for (Part& part : parts) part.Take(bytes, side);
    input.text = parts[0].text;
    if (input.pair.has_value()) input.pair = parts[1].text;
    absl::StatusOr<Encoding> encoding = tokenizer.Encode(input);
    if (!encoding.ok()) {
      RETURN_IF_ERROR(CheckTexts(input));
      const bool refused = absl::IsInvalidArgument(encoding.status());
      return refused && cut ? *std::move(cut) : std::move(encoding);
    }
    if (parts[0].is_whole() && parts[1].is_whole()) return encoding;
    const auto enough = [&](int number) {
      return parts[number].is_whole() ||
             encoding->text_tokens[number] >= limits.tokens + kSpareTokens;
    };
    const bool done = enough(0) && enough(1);
    if (!limits.truncate) {
      if (done) return TooMany(parts, *encoding, limits.tokens);
      if (bytes >= most) return TooLong(parts[enough(0)], enough(0), most);
    } else {
      MoveOrigins(parts, *encoding);
      encoding->truncated = true;
      if (done || bytes >= most) return encoding;
      cut = *std::move(encoding);
    }
    bytes = std::min(bytes * kGrowth, most);
  }
}

}  // namespace attend
