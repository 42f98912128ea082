#include "engine/checkpoint/gguf/gguf_part_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

constexpr size_t kDigits = 5;

// Takes the last digits off `text`.
std::optional<int> TakeNumber(absl::string_view& text) {
  if (text.size() < kDigits) return std::nullopt;
  const absl::string_view digits = text.substr(text.size() - kDigits);
  int number = 0;
  if (!std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(digits, &number)) {
    return std::nullopt;
  }
  text.remove_suffix(kDigits);
  return number;
}

}  // namespace

std::string GgufPartName::Path() const {
  return absl::StrFormat("%s-%05d-of-%05d.gguf", model, number, count);
}

std::optional<GgufPartName> ParseGgufPartName(absl::string_view path) {
  if (!absl::ConsumeSuffix(&path, ".gguf")) return std::nullopt;
  const std::optional<int> count = TakeNumber(path);
  if (!count || !absl::ConsumeSuffix(&path, "-of-")) return std::nullopt;
  const std::optional<int> number = TakeNumber(path);
  if (!number || !absl::ConsumeSuffix(&path, "-")) return std::nullopt;
  return GgufPartName{std::string(path), *number, *count};
}

}  // namespace attend
