#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

int HexDigit(char c) {
  ATTEND_CHECK(absl::ascii_isxdigit(c));
  return absl::ascii_isdigit(c) ? c - '0' : absl::ascii_tolower(c) - 'a' + 10;
}

std::string Unescape(absl::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes.push_back(text[i]);
      continue;
    }
    ATTEND_CHECK(++i < text.size());
    if (text[i] != 'x') {
      bytes.push_back(text[i]);
      continue;
    }
    ATTEND_CHECK(i + 2 < text.size());
    bytes.push_back(
        static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2])));
    i += 2;
  }
  return bytes;
}

}  // namespace

std::vector<std::string> ParseDictionary(absl::string_view text) {
  std::vector<std::string> words;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const size_t begin = line.find('"');
    ATTEND_CHECK(begin + 1 < line.size() && line.back() == '"');
    words.push_back(Unescape(line.substr(begin + 1, line.size() - begin - 2)));
  }
  return words;
}

Mutator::Mutator(std::vector<std::string> seeds, std::vector<std::string> words)
    : seeds_(std::move(seeds)), words_(std::move(words)) {
  ATTEND_CHECK(!seeds_.empty());
}

// Not a distribution of the standard library: each has its own.
size_t Mutator::Below(size_t limit) { return random_() % limit; }

size_t Mutator::Length(size_t limit) {
  return 1 + Below(std::min(limit, size_t{1} << Below(9)));
}

std::string Mutator::Next() {
  std::string input = seeds_[Below(seeds_.size())];
  for (size_t changes = 1 + Below(4); changes > 0; --changes) Change(input);
  input.resize(std::min(input.size(), kMaxBytes));
  return input;
}

void Mutator::Change(std::string& input) {
  if (input.empty()) return Insert(input);
  switch (Below(8)) {
    case 0:
      return ChangeByte(input);
    case 1:
      return Remove(input);
    case 2:
      return Insert(input);
    case 3:
      return InsertWord(input);
    case 4:
      return Repeat(input);
    case 5:
      return Splice(input);
    case 6:
      return ChangeNumber(input);
    default:
      return ChangeBinary(input);
  }
}

void Mutator::ChangeByte(std::string& input) {
  char& byte = input[Below(input.size())];
  if (Below(2) == 0) {
    byte = static_cast<char>(byte ^ 1 << Below(8));
  } else {
    byte = static_cast<char>(random_());
  }
}

void Mutator::Remove(std::string& input) {
  const size_t length = Length(input.size());
  input.erase(Below(input.size() - length + 1), length);
}

void Mutator::Insert(std::string& input) {
  std::string bytes(Length(64), '\0');
  const bool one = Below(2) == 0;
  const char same = static_cast<char>(random_());
  for (char& byte : bytes) byte = one ? same : static_cast<char>(random_());
  input.insert(Below(input.size() + 1), bytes);
}

void Mutator::InsertWord(std::string& input) {
  if (words_.empty()) return ChangeByte(input);
  const std::string& word = words_[Below(words_.size())];
  const size_t at = Below(input.size() + 1);
  const size_t replaced = Below(2) == 0 ? 0 : word.size();
  input.replace(at, std::min(replaced, input.size() - at), word);
}

void Mutator::Repeat(std::string& input) {
  const size_t length = Length(input.size());
  const std::string part =
      input.substr(Below(input.size() - length + 1), length);
  const size_t at = Below(input.size() + 1);
  for (size_t times = 1 + Below(4); times > 0; --times) input.insert(at, part);
}

void Mutator::Splice(std::string& input) {
  const std::string& other = seeds_[Below(seeds_.size())];
  input.resize(Below(input.size() + 1));
  input += other.substr(Below(other.size() + 1));
}

void Mutator::ChangeNumber(std::string& input) {
  static constexpr const char* kNumbers[] = {
      "0",          "-1",         "1",    "2147483647",
      "4294967296", "-0.0",       "1e39", "9223372036854775807",
      "1e309",      "1073741824", "65",   "-9223372036854775808",
      "5e-324",     "1000000",    "1.5",  "18446744073709551615"};
  const auto is_digit = [](char c) { return absl::ascii_isdigit(c); };
  const auto from = input.begin() + static_cast<int64_t>(Below(input.size()));
  const auto begin = std::find_if(from, input.end(), is_digit);
  if (begin == input.end()) return ChangeByte(input);
  const auto end = std::find_if_not(begin, input.end(), is_digit);
  input.replace(begin, end, kNumbers[Below(std::size(kNumbers))]);
}

void Mutator::ChangeBinary(std::string& input) {
  static constexpr uint64_t kNumbers[] = {
      0,      1,          0x7f,       0x80,        0xff,
      0xffff, 0x7fffffff, 0x80000000, 0xffffffff,  0x100000000,
      ~0ull,  ~0ull >> 1, 1ull << 63, 0x7f800000u, 0x7fc00000u};
  uint64_t number = kNumbers[Below(std::size(kNumbers))];
  if (Below(2) == 0) number += random_() % 8 - 4;
  const size_t bytes = std::min(input.size(), size_t{1} << Below(4));
  // Little endian, and every machine that Attend runs on is.
  std::memcpy(&input[Below(input.size() - bytes + 1)], &number, bytes);
}

}  // namespace attend
