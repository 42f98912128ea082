#include "server/documents/literals.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace attend {
namespace {

// Names and numbers are no longer than this, and neither is a search for their
// end.
constexpr size_t kLongestName = 64;

bool IsWordByte(char c) {
  return absl::ascii_isalnum(c) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The number of bytes at the beginning of `text` that are in `set` or letters
// or digits of ASCII, at most kLongestName.
size_t NameSize(absl::string_view text, absl::string_view set) {
  size_t size = 0;
  while (
      size < std::min(text.size(), kLongestName) &&
      (absl::ascii_isalnum(text[size]) || set.find(text[size]) != set.npos)) {
    ++size;
  }
  return size;
}

// All functions below: the bytes of a literal that `text` begins with; 0: it
// begins with none.

// open name close, where the name may not be empty.
size_t Enclosed(absl::string_view text, absl::string_view open,
                absl::string_view close, absl::string_view set) {
  if (!absl::StartsWith(text, open)) return 0;
  const size_t name = NameSize(text.substr(open.size()), set);
  const absl::string_view rest = text.substr(open.size() + name);
  if (name == 0 || !absl::StartsWith(rest, close)) return 0;
  return open.size() + name + close.size();
}

size_t Braces(absl::string_view text) {
  for (const absl::string_view open : {"${", "%{", "#{", "{"}) {
    const size_t twice = Enclosed(text, "{{", "}}", " _.-:|#/^&>!$@");
    if (twice > 0) return twice;
    const size_t once = Enclosed(text, open, "}", "_.-:[]!$@");
    if (once > 0) return once;
  }
  return 0;
}

// printf's and Python's: %s, %5.2f, %1$s, %(name)d, %@, %ld.
size_t Percent(absl::string_view text) {
  if (text[0] != '%') return 0;
  size_t at = 1;
  if (const size_t name = Enclosed(text.substr(1), "(", ")", "_.-")) at += name;
  const absl::string_view flags = "0123456789.$+-#lhz";
  while (at < std::min(text.size(), kLongestName) &&
         flags.find(text[at]) != flags.npos) {
    ++at;
  }
  constexpr absl::string_view kConversions = "sdiufFeEgGxXoc@";
  if (at >= text.size() || kConversions.find(text[at]) == kConversions.npos) {
    return 0;
  }
  ++at;
  return at < text.size() && IsWordByte(text[at]) ? 0 : at;
}

// The bytes of an address, without marks at its end that end a sentence.
size_t AddressSize(absl::string_view text) {
  size_t size = text.find_first_of(" \t\r\n\f<>\"`{}|\\^");
  size = std::min(size, text.size());
  // The object character ends it, too, and so does an ideographic full stop.
  for (const absl::string_view end : {"\xef\xbf\xbc", "\xe3\x80\x82"}) {
    size = std::min(size, std::min(text.substr(0, size).find(end), size));
  }
  while (size > 0 && absl::StrContains(".,;:!?'*_~", text[size - 1])) --size;
  // A bracket belongs to it if it opens there, too.
  const auto count = [&](char c) {
    return std::count(text.begin(), text.begin() + size, c);
  };
  for (auto more = count(')') - count('(');
       more > 0 && size > 0 && text[size - 1] == ')'; --more) {
    --size;
  }
  return size;
}

size_t Url(absl::string_view text) {
  for (const absl::string_view scheme :
       {"https://", "http://", "ftp://", "mailto:", "www."}) {
    if (!absl::StartsWithIgnoreCase(text, scheme)) continue;
    const size_t size = AddressSize(text);
    if (size > scheme.size()) return size;
  }
  return 0;
}

size_t Email(absl::string_view text) {
  const size_t local = NameSize(text, "._%+-");
  if (local == 0 || local >= text.size() || text[local] != '@') return 0;
  size_t domain = NameSize(text.substr(local + 1), ".-");
  while (domain > 0 && absl::StrContains(".-", text[local + domain])) --domain;
  const absl::string_view name = text.substr(local + 1, domain);
  const size_t dot = name.rfind('.');
  if (dot == name.npos || dot == 0 || name.size() - dot < 3) return 0;
  return local + 1 + domain;
}

size_t Digits(absl::string_view text) {
  size_t size = 0;
  while (size < std::min(text.size(), kLongestName) &&
         (absl::ascii_isdigit(text[size]) ||
          (size > 0 && absl::StrContains(".,", text[size]) &&
           size + 1 < text.size() && absl::ascii_isdigit(text[size + 1])))) {
    ++size;
  }
  return size;
}

constexpr std::array<absl::string_view, 3> kCurrencies = {
    "$", "\xe2\x82\xac", "\xc2\xa3"};  // dollar, euro, pound
// Not those that are words, too, or letters that follow numbers for other
// reasons ("the 50s", "2 A").
constexpr absl::string_view kUnits[] = {"%",
                                        "\xe2\x80\xb0",
                                        "\xc2\xb0"
                                        "C",
                                        "\xc2\xb0"
                                        "F",
                                        "\xc2\xb0",
                                        "\xe2\x82\xac",
                                        "\xc2\xa3",
                                        "$",
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

// With one space, usual or not broken, before the unit, or none.
size_t UnitSize(absl::string_view text) {
  size_t space = 0;
  if (absl::StartsWith(text, " ")) space = 1;
  for (const absl::string_view narrow : {"\xc2\xa0", "\xe2\x80\xaf"}) {
    if (absl::StartsWith(text, narrow)) space = narrow.size();
  }
  size_t longest = 0;
  for (const absl::string_view unit : kUnits) {
    const size_t end = space + unit.size();
    if (!absl::StartsWith(text.substr(space), unit)) continue;
    if (end < text.size() && IsWordByte(text[end])) continue;
    longest = std::max(longest, end);
  }
  return longest;
}

size_t Quantity(absl::string_view text) {
  for (const absl::string_view currency : kCurrencies) {
    if (!absl::StartsWith(text, currency)) continue;
    const size_t digits = Digits(text.substr(currency.size()));
    if (digits > 0) return currency.size() + digits;
  }
  const size_t digits = Digits(text);
  const size_t unit = digits == 0 ? 0 : UnitSize(text.substr(digits));
  return unit == 0 ? 0 : digits + unit;
}

}  // namespace

std::vector<Literal> FindLiterals(absl::string_view text) {
  std::vector<Literal> literals;
  bool in_word = false;  // the byte before is part of a word
  for (size_t at = 0; at < text.size();) {
    const absl::string_view rest = text.substr(at);
    size_t size = std::max(Braces(rest), Percent(rest));
    if (size == 0 && !in_word) size = std::max(Url(rest), Email(rest));
    const bool readable = size == 0;
    if (readable && !in_word) size = Quantity(rest);
    if (size > 0) {
      const int begin = static_cast<int>(at);
      literals.push_back({{begin, begin + static_cast<int>(size)}, readable});
    }
    at += std::max<size_t>(size, 1);
    in_word = IsWordByte(text[at - 1]);
  }
  return literals;
}

}  // namespace attend
