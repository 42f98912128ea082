#include "tests/engine/tokenizer/lines.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// Knuth's MMIX generator: the high half of its state.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15 + 1) {
    Below(2);
  }
  uint64_t Below(uint64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % n;
  }

 private:
  uint64_t state_;
};

std::string Character(uint64_t code) {
  if (code >= 0xd800 && code < 0xe000) return " ";
  const auto byte = [](uint64_t bits) { return static_cast<char>(bits); };
  const auto tail = [&](int shift) {
    return byte(0x80 | (code >> shift & 0x3f));
  };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), tail(0)};
  if (code < 0x10000) return {byte(0xe0 | code >> 12), tail(6), tail(0)};
  return {byte(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
}

}  // namespace

Lines::Lines() {
  nlohmann::json fragments;
  std::ifstream(ATTEND_SOURCE_DIR
                "/tests/engine/tokenizer/golden/fragments.json") >>
      fragments;
  fragments_ = fragments.get<std::vector<std::string>>();
}

std::string Lines::Get(int number) const {
  static constexpr const char* kSeparators[] = {"",  "",  "  ", " ",
                                                " ", " ", " ",  " "};
  Random random(number);
  std::string text;
  for (uint64_t left = random.Below(13); left > 0; --left) {
    const uint64_t kind = random.Below(16);
    std::string fragment = fragments_[random.Below(fragments_.size())];
    if (kind == 0) {
      fragment = Character(random.Below(0x110000));
    } else if (kind == 1) {
      fragment = Character(random.Below(0x3000));
    } else if (kind == 2) {
      const std::string one = fragment;
      for (uint64_t more = random.Below(25); more > 0; --more) fragment += one;
    }
    absl::StrAppend(&text, fragment, kSeparators[random.Below(8)]);
  }
  return text;
}

std::string Digest::Take() {
  return absl::StrCat(
      absl::Hex(std::exchange(value_, 0xCBF29CE484222325), absl::kZeroPad16));
}

}  // namespace attend
