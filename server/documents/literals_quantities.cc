#include "server/documents/literals_quantities.h"

#include <unicode/uchar.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "server/documents/literals_text.h"

namespace attend {
namespace {

// Not those that are words, too, or letters that follow numbers for other
// reasons ("the 50s", "2 A"). Symbols of currencies are units, too.
constexpr absl::string_view kUnits[] = {"%%",
                                        "%",
                                        "\xe2\x80\xb0",
                                        "\xc2\xb0"
                                        "C",
                                        "\xc2\xb0"
                                        "F",
                                        "\xc2\xb0",
                                        "\xe2\x84\x83",
                                        "\xe2\x84\x89",
                                        "\xef\xbc\x85",
                                        "km/h",
                                        "km\xc2\xb2",
                                        "km2",
                                        "km",
                                        "m/s",
                                        "m\xc2\xb2",
                                        "m\xc2\xb3",
                                        "mph",
                                        "mm",
                                        "cm",
                                        "dm",
                                        "m",
                                        "kg",
                                        "mg",
                                        "g",
                                        "kB",
                                        "MB",
                                        "GB",
                                        "TB",
                                        "KB",
                                        "KiB",
                                        "MiB",
                                        "GiB",
                                        "kHz",
                                        "MHz",
                                        "GHz",
                                        "Hz",
                                        "kWh",
                                        "kW",
                                        "MW",
                                        "kV",
                                        "mA",
                                        "ml",
                                        "cl",
                                        "dl",
                                        "l",
                                        "ms",
                                        "min",
                                        "h",
                                        "px",
                                        "pt",
                                        "dpi",
                                        "ppm",
                                        "dB",
                                        "hPa",
                                        "kPa",
                                        "Pa",
                                        "kcal",
                                        "kJ",
                                        "lb",
                                        "lbs",
                                        "oz",
                                        "ft",
                                        "EUR",
                                        "USD",
                                        "GBP",
                                        "CHF"};

// Spaces between a number and its unit, or between groups of its digits: no
// line is broken at the latter.
constexpr absl::string_view kNarrowSpaces[] = {"\u00a0", "\u202f", "\u2009"};

// The bytes of the space that `text` begins with, usual or not broken.
size_t SpaceSize(absl::string_view text) {
  if (absl::StartsWith(text, " ")) return 1;
  for (const absl::string_view space : kNarrowSpaces) {
    if (absl::StartsWith(text, space)) return space.size();
  }
  return 0;
}

bool IsDigitAt(absl::string_view text, size_t at) {
  return at < text.size() && u_isdigit(First(text.substr(at)).c);
}

// The bytes of the mark that `text` begins with, if digits may follow it. A
// usual space only if `grouped`: it follows one to three digits.
size_t SeparatorSize(absl::string_view text, bool grouped) {
  for (const absl::string_view mark : {".", ",", "\u066b", "\u066c"}) {
    if (absl::StartsWith(text, mark)) {
      return IsDigitAt(text, mark.size()) ? mark.size() : 0;
    }
  }
  // Groups of three.
  for (const absl::string_view mark :
       {"\u00a0", "\u202f", "\u2009", "\u2019", "'", " "}) {
    if (!absl::StartsWith(text, mark) || (mark == " " && !grouped)) continue;
    const absl::string_view group = text.substr(mark.size());
    const bool three = IsDigitAt(group, 0) && IsDigitAt(group, 1) &&
                       IsDigitAt(group, 2) && !IsDigitAt(group, 3);
    return three ? mark.size() : 0;
  }
  return 0;
}

size_t Digits(absl::string_view text) {
  size_t size = 0;
  int group = 0;  // digits since the last mark
  while (size < std::min(text.size(), kLongestName)) {
    const FirstChar next = First(text.substr(size));
    if (u_isdigit(next.c)) {
      size += next.bytes;
      ++group;
      continue;
    }
    const size_t mark =
        size == 0 ? 0 : SeparatorSize(text.substr(size), group <= 3);
    if (mark == 0) break;
    size += mark;
    group = 0;
  }
  return size;
}

size_t CurrencySize(absl::string_view text) {
  const FirstChar first = First(text);
  return u_charType(first.c) == U_CURRENCY_SYMBOL ? first.bytes : 0;
}

// With one space before the unit, or none.
size_t UnitSize(absl::string_view text) {
  const size_t space = SpaceSize(text);
  size_t longest = 0;
  const auto add = [&](size_t size) {
    const size_t end = space + size;
    if (size > 0 && !ContinuesWord(First(text.substr(end)).c)) {
      longest = std::max(longest, end);
    }
  };
  add(CurrencySize(text.substr(space)));
  for (const absl::string_view unit : kUnits) {
    if (absl::StartsWith(text.substr(space), unit)) add(unit.size());
  }
  return longest;
}

}  // namespace

size_t QuantitySize(absl::string_view before, absl::string_view text) {
  if (ContinuesWord(Last(before))) return 0;
  if (const size_t currency = CurrencySize(text)) {
    const size_t space = SpaceSize(text.substr(currency));
    const size_t digits = Digits(text.substr(currency + space));
    return digits > 0 ? currency + space + digits : 0;
  }
  const size_t digits = Digits(text);
  const size_t unit = digits == 0 ? 0 : UnitSize(text.substr(digits));
  return unit == 0 ? 0 : digits + unit;
}

}  // namespace attend
