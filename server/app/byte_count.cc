#include "server/app/byte_count.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

constexpr uint64_t kMaxByteCount = std::numeric_limits<uint64_t>::max();

struct ByteUnit {
  const char* name;
  uint64_t bytes;
};

constexpr ByteUnit kByteUnits[] = {
    {"", 1},
    {"B", 1},
    {"KB", 1'000},
    {"MB", 1'000'000},
    {"GB", 1'000'000'000},
    {"TB", 1'000'000'000'000},
    {"Ki", uint64_t{1} << 10},
    {"Mi", uint64_t{1} << 20},
    {"Gi", uint64_t{1} << 30},
    {"Ti", uint64_t{1} << 40},
    {"KiB", uint64_t{1} << 10},
    {"MiB", uint64_t{1} << 20},
    {"GiB", uint64_t{1} << 30},
    {"TiB", uint64_t{1} << 40},
};

const ByteUnit* FindByteUnit(absl::string_view name) {
  const auto* const found = std::find_if(
      std::begin(kByteUnits), std::end(kByteUnits), [&](const ByteUnit& unit) {
        return absl::EqualsIgnoreCase(unit.name, name);
      });
  return found == std::end(kByteUnits) ? nullptr : found;
}

bool HasOnly(absl::string_view text, absl::string_view characters) {
  return text.find_first_not_of(characters) == absl::string_view::npos;
}

std::optional<uint64_t> WholeByteCount(absl::string_view digits,
                                       const ByteUnit& unit) {
  uint64_t count = 0;
  if (!absl::SimpleAtoi(digits, &count) || count > kMaxByteCount / unit.bytes) {
    return std::nullopt;
  }
  return count * unit.bytes;
}

// `number` begins with a digit, so that it is neither negative nor "inf".
std::optional<uint64_t> RealByteCount(absl::string_view number,
                                      const ByteUnit& unit) {
  constexpr double kLimit = 18446744073709551616.0;  // 2^64
  double count = 0;
  // absl::SimpleAtod() reads hexadecimal numbers, too.
  if (!HasOnly(number, "0123456789.eE+-") ||
      !absl::SimpleAtod(number, &count) || !std::isfinite(count)) {
    return std::nullopt;
  }
  if (*unit.name == '\0' && std::floor(count) != count) return std::nullopt;
  const double bytes = std::floor(count * static_cast<double>(unit.bytes));
  if (bytes >= kLimit) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

}  // namespace

std::optional<uint64_t> ParseByteCount(absl::string_view text) {
  size_t end = text.size();
  while (end > 0 && absl::ascii_isalpha(text[end - 1])) --end;
  const ByteUnit* const unit = FindByteUnit(text.substr(end));
  absl::string_view number = text.substr(0, end);
  if (unit != nullptr && *unit->name != '\0') {
    number = absl::StripTrailingAsciiWhitespace(number);
  }
  if (unit == nullptr || number.empty() || !absl::ascii_isdigit(number[0]) ||
      absl::ascii_isspace(number.back())) {
    return std::nullopt;
  }
  return HasOnly(number, "0123456789") ? WholeByteCount(number, *unit)
                                       : RealByteCount(number, *unit);
}

std::string ByteCountText(uint64_t bytes) {
  for (const ByteUnit unit : {ByteUnit{"MiB", uint64_t{1} << 20},
                              ByteUnit{"KiB", uint64_t{1} << 10}}) {
    if (bytes % unit.bytes == 0) {
      return absl::StrCat(bytes / unit.bytes, unit.name);
    }
  }
  return absl::StrCat(bytes);
}

}  // namespace attend
