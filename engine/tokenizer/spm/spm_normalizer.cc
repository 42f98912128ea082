#include "engine/tokenizer/spm/spm_normalizer.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/tensor/check.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

// Fields of a unit of the double array.
uint32_t Offset(uint32_t unit) {
  return unit >> 10 << ((unit & (1u << 9)) >> 6);
}
uint32_t Label(uint32_t unit) { return unit & (1u << 31 | 0xff); }
bool HasLeaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t Value(uint32_t unit) { return unit & ((1u << 31) - 1); }

}  // namespace

absl::StatusOr<SpmNormalizer> SpmNormalizer::Create(const std::string& path,
                                                    const SpmFile& file) {
  SpmNormalizer normalizer;
  normalizer.add_dummy_prefix_ = file.add_dummy_prefix;
  normalizer.remove_extra_spaces_ = file.remove_extra_spaces;
  normalizer.escape_spaces_ = file.escape_spaces;
  normalizer.space_is_suffix_ = file.space_is_suffix;
  for (const SpmFile::Piece& piece : file.pieces) {
    if (piece.type == SpmFile::Type::kUserDefined) {
      normalizer.user_defined_.push_back(piece.text);
    }
  }
  std::sort(normalizer.user_defined_.begin(), normalizer.user_defined_.end(),
            [](const auto& a, const auto& b) { return a.size() > b.size(); });
  if (file.charsmap.empty()) return normalizer;

  uint32_t bytes = 0;
  if (file.charsmap.size() > 4) {
    std::memcpy(&bytes, file.charsmap.data(), 4);
  }
  if (bytes == 0 || bytes % 4 != 0 || bytes >= file.charsmap.size() - 4) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": precompiled_charsmap has a table of ", bytes,
                     " bytes in ", file.charsmap.size()));
  }
  normalizer.trie_.resize(bytes / 4);
  std::memcpy(normalizer.trie_.data(), file.charsmap.data() + 4, bytes);
  normalizer.replacements_ = file.charsmap.substr(4 + bytes);
  if (FindInvalidUtf8(normalizer.replacements_) != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": precompiled_charsmap is not UTF-8"));
  }
  return normalizer;
}

std::pair<absl::string_view, size_t> SpmNormalizer::LongestRule(
    absl::string_view text) const {
  std::pair<absl::string_view, size_t> longest;
  if (trie_.empty()) return longest;
  uint32_t node = Offset(trie_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (node >= trie_.size() || Label(trie_[node]) != byte) break;
    const uint32_t unit = trie_[node];
    node ^= Offset(unit);
    if (!HasLeaf(unit) || node >= trie_.size()) continue;
    const uint32_t at = Value(trie_[node]);
    if (at >= replacements_.size()) continue;
    absl::string_view rule = absl::string_view(replacements_).substr(at);
    longest = {rule.substr(0, rule.find('\0')), i + 1};
  }
  return longest;
}

absl::string_view SpmNormalizer::SymbolAt(absl::string_view text) const {
  for (const std::string& symbol : user_defined_) {
    if (absl::StartsWith(text, symbol)) return symbol;
  }
  return "";
}

std::pair<absl::string_view, size_t> SpmNormalizer::Prefix(
    absl::string_view text) const {
  const absl::string_view symbol = SymbolAt(text);
  if (!symbol.empty()) return {symbol, symbol.size()};
  const auto longest = LongestRule(text);
  if (longest.second > 0) return longest;
  const size_t length = FirstUtf8Char(text).length;
  ATTEND_CHECK(length > 0);
  return {text.substr(0, length), length};
}

SpmNormalizer::Normalized SpmNormalizer::Normalize(
    absl::string_view text) const {
  Normalized normalized;
  const size_t size = text.size();
  const auto append = [&](absl::string_view bytes) {
    absl::StrAppend(&normalized.text, bytes);
    normalized.origins.resize(normalized.text.size(),
                              static_cast<int>(size - text.size()));
  };
  while (remove_extra_spaces_ && !text.empty()) {
    const auto [prefix, length] = Prefix(text);
    if (prefix != " ") break;
    text.remove_prefix(length);
  }
  const absl::string_view space = escape_spaces_ ? kSpaceMark : " ";
  if (add_dummy_prefix_ && !space_is_suffix_ && !text.empty()) append(space);
  const bool empty = text.empty();
  bool after_space = remove_extra_spaces_;
  while (!text.empty()) {
    auto [prefix, length] = Prefix(text);
    while (after_space && absl::ConsumePrefix(&prefix, " ")) {
    }
    for (size_t i = 0; i < prefix.size(); ++i) {
      append(prefix[i] == ' ' ? space : prefix.substr(i, 1));
    }
    if (!prefix.empty()) after_space = absl::EndsWith(prefix, " ");
    if (!remove_extra_spaces_) after_space = false;
    text.remove_prefix(length);
  }
  normalized.origins.push_back(static_cast<int>(size));
  while (remove_extra_spaces_ && absl::EndsWith(normalized.text, space)) {
    normalized.text.resize(normalized.text.size() - space.size());
    normalized.origins.resize(normalized.text.size() + 1);
  }
  if (add_dummy_prefix_ && space_is_suffix_ && !empty) {
    const int end = normalized.origins.back();
    absl::StrAppend(&normalized.text, space);
    normalized.origins.resize(normalized.text.size() + 1, end);
  }
  return normalized;
}

}  // namespace attend
