#ifndef ATTEND_TESTS_FUZZ_MUTATOR_H_
#define ATTEND_TESTS_FUZZ_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// The words of a dictionary as libFuzzer and AFL have it: a line each, "word"
// or name="word", in which \xAB, \\ and \" are bytes; '#' begins a comment.
std::vector<std::string> ParseDictionary(absl::string_view text);

// Inputs that are a few changes away from a seed, the same at each run, on each
// machine and with each compiler.
class Mutator {
 public:
  // At least one seed.
  Mutator(std::vector<std::string> seeds, std::vector<std::string> words);

  std::string Next();

 private:
  static constexpr size_t kMaxBytes = 1 << 20;

  size_t Below(size_t limit);  // [0, limit); `limit` > 0
  // A stretch of the input, shorter ones more often.
  size_t Length(size_t limit);
  void Change(std::string& input);
  void ChangeByte(std::string& input);
  void Remove(std::string& input);
  void Insert(std::string& input);
  void InsertWord(std::string& input);
  void Repeat(std::string& input);
  void Splice(std::string& input);
  void ChangeNumber(std::string& input);
  void ChangeBinary(std::string& input);

  const std::vector<std::string> seeds_;
  const std::vector<std::string> words_;
  std::mt19937_64 random_{1};
};

}  // namespace attend

#endif  // ATTEND_TESTS_FUZZ_MUTATOR_H_
