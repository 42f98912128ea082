#include "engine/tokenizer/hf/decoder_rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/tokenizer/text/clean_up.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using Kind = DecoderRules::Kind;

// The UTF-8 of a code point below U+0800.
std::string Utf8Of(int code) {
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xc0 | code >> 6),
          static_cast<char>(0x80 | (code & 0x3f))};
}

// GPT-2's table (Radford et al. 2019): a printable Latin-1 character stands for
// its own byte; characters from U+0100 on stand for the other bytes.
const absl::flat_hash_map<std::string, char>& ByteOfCharacter() {
  static const auto* table = [] {
    auto* bytes = new absl::flat_hash_map<std::string, char>();
    int next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7e) ||
                             (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
      (*bytes)[Utf8Of(printable ? byte : next++)] = static_cast<char>(byte);
    }
    return bytes;
  }();
  return *table;
}

// The bytes of a token; the token itself if it has a character that is not in
// the table.
std::string ByteLevelText(absl::string_view token) {
  std::string bytes;
  for (absl::string_view rest = token; !rest.empty();) {
    const int length = std::max(FirstUtf8Char(rest).length, 1);
    const auto byte = ByteOfCharacter().find(rest.substr(0, length));
    if (byte == ByteOfCharacter().end()) return std::string(token);
    bytes.push_back(byte->second);
    rest.remove_prefix(length);
  }
  return bytes;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte of "<0x41>", or -1.
int ByteOf(absl::string_view token) {
  if (token.size() != 6 || !absl::StartsWith(token, "<0x") || token[5] != '>') {
    return -1;
  }
  const int high = HexDigit(token[3]);
  const int low = HexDigit(token[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// Applies the replacements one after the other.
std::string Replaced(
    absl::string_view token,
    const std::vector<std::pair<std::string, std::string>>& replacements) {
  std::string text(token);
  for (const auto& [from, to] : replacements) {
    text = absl::StrReplaceAll(text, {{from, to}});
  }
  return text;
}

bool ReadReplace(const Json& step, DecoderRules& rules) {
  if (!step["pattern"].contains("String")) return false;  // a regex
  rules.replacements.emplace_back(step["pattern"]["String"], step["content"]);
  return true;
}

// Reads a sequence of decoders: replacements, then bytes, then steps over the
// whole text.
DecoderRules ReadSequence(const Json& steps) {
  DecoderRules rules;
  enum { kReplacing, kBytes, kFused, kStripped } state = kReplacing;
  for (const Json& step : steps) {
    const std::string type = step["type"];
    if (type == "Replace" && state == kReplacing && ReadReplace(step, rules)) {
      continue;
    }
    if (type == "ByteFallback" && state == kReplacing) {
      state = kBytes;
    } else if (type == "Fuse" && state == kBytes) {
      state = kFused;
    } else if (type == "Strip" && state == kFused && step["stop"] == 0) {
      state = kStripped;
      rules.stripped = step["content"];
      rules.max_stripped = step["start"];
    } else {
      return {};
    }
  }
  if (state != kReplacing) rules.kind = Kind::kByteFallback;
  return rules;
}

DecoderRules Read(const Json& decoder) {
  DecoderRules rules;
  if (decoder.is_null()) {
    rules.kind = Kind::kSpaced;
    return rules;
  }
  const std::string type = decoder["type"];
  if (type == "Sequence") {
    const Json& steps = decoder["decoders"];
    return steps.size() == 1 ? Read(steps[0]) : ReadSequence(steps);
  }
  if (type == "ByteLevel") {
    rules.kind = Kind::kByteLevel;
  } else if (type == "WordPiece") {
    rules.kind = Kind::kWordPiece;
    rules.continuing = decoder["prefix"];
    rules.clean_up = decoder["cleanup"];
  } else if (type == "Metaspace") {
    rules.kind = Kind::kMetaspace;
    rules.mark = decoder["replacement"];
    rules.first_loses_marks = decoder["prepend_scheme"] != "never";
  } else if (type == "ByteFallback" || type == "Fuse") {
    return ReadSequence(Json::array({decoder}));
  }
  return rules;
}

}  // namespace

DecoderRules ParseDecoderRules(const Json& decoder) {
  try {
    return Read(decoder);
  } catch (const Json::exception&) {
    return {};  // a later version's, with other fields
  }
}

bool DecoderRules::IsByte(absl::string_view token) const {
  return kind == Kind::kByteFallback &&
         ByteOf(Replaced(token, replacements)) >= 0;
}

std::string DecoderRules::TokenText(absl::string_view token) const {
  switch (kind) {
    case Kind::kSpaced:
      return absl::StrCat(" ", token);
    case Kind::kByteLevel:
      return ByteLevelText(token);
    case Kind::kWordPiece: {
      const bool continues = absl::StartsWith(token, continuing);
      const std::string text =
          continues ? std::string(token.substr(continuing.size()))
                    : absl::StrCat(" ", token);
      return clean_up ? CleanUpToken(text) : text;
    }
    case Kind::kMetaspace:
      return absl::StrReplaceAll(token, {{mark, " "}});
    case Kind::kByteFallback: {
      const std::string text = Replaced(token, replacements);
      const int byte = ByteOf(text);
      return byte < 0 ? text : std::string(1, static_cast<char>(byte));
    }
    case Kind::kWhole:
      break;
  }
  return absl::StrReplaceAll(token, {{kSpaceMark, " "}});
}

bool DecoderRules::FirstLosesSpace() const {
  switch (kind) {
    case Kind::kSpaced:
    case Kind::kWordPiece:
      return true;
    case Kind::kMetaspace:
      return first_loses_marks;
    case Kind::kByteFallback:
      return max_stripped > 0 && stripped == " ";
    default:
      return false;
  }
}

std::string DecoderRules::FirstText(absl::string_view token) const {
  switch (kind) {
    case Kind::kSpaced:
      return std::string(token);
    case Kind::kWordPiece:
      return clean_up ? CleanUpToken(token) : std::string(token);
    case Kind::kMetaspace:
      if (first_loses_marks) return absl::StrReplaceAll(token, {{mark, ""}});
      break;
    default:
      break;
  }
  return TokenText(token);
}

}  // namespace attend
