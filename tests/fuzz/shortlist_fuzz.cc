// A vmap.txt or a lex.s2t, and the tokens that it lists for sources.
#include <algorithm>
#include <vector>

#include "engine/runtime/load_shortlist.h"
#include "engine/tokenizer/load_tokenizer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

namespace attend {
namespace {

constexpr int kVocab = 90;  // of the golden model

std::unique_ptr<Tokenizer> Load() {
  auto tokenizer =
      LoadTokenizer(ATTEND_SOURCE_DIR "/tests/golden/marian/plain");
  ATTEND_CHECK(tokenizer.ok());
  return *std::move(tokenizer);
}

void CheckList(const Shortlist& shortlist, const std::vector<int>& source) {
  const std::vector<int> listed = shortlist.Find(source, {});
  ATTEND_CHECK(!listed.empty());
  ATTEND_CHECK(listed.front() >= 0 && listed.back() < kVocab);
  // Ascending, and each once.
  ATTEND_CHECK(std::adjacent_find(listed.begin(), listed.end(),
                                  std::greater_equal<>()) == listed.end());
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const FuzzDirectory directory;
  static const std::unique_ptr<Tokenizer> tokenizer = Load();
  const std::string path = directory.Write("f.s2t", View(data, size));
  const auto loaded =
      LoadShortlist({.path = path, .first = 3, .best = 2}, *tokenizer, kVocab);
  if (!Accepted(loaded.status(), "f.s2t")) return 0;
  for (int id = 0; id < kVocab; ++id) {
    CheckList(*loaded->shortlist, {id, 3, 4, 3, id, kVocab - 1 - id});
  }
  return 0;
}
