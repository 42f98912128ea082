#ifndef ATTEND_TESTS_ENGINE_TOKENIZER_LINES_H_
#define ATTEND_TESTS_ENGINE_TOKENIZER_LINES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace attend {

// The lines of golden/make_tokenizers.py: words of many scripts, emoji,
// combining and control characters, long words, runs of spaces, any character.
class Lines {
 public:
  // Reads golden/fragments.json.
  Lines();
  std::string Get(int number) const;

 private:
  std::vector<std::string> fragments_;
};

// 64-bit FNV-1a over integers.
class Digest {
 public:
  void Add(int64_t number) {
    value_ = (value_ ^ static_cast<uint64_t>(number)) * 0x100000001B3;
  }
  // In hexadecimal; begins anew.
  std::string Take();

 private:
  uint64_t value_ = 0xCBF29CE484222325;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TOKENIZER_LINES_H_
