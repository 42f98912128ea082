// vocab.json of Marian and M2M100.
#include "engine/tokenizer/spm/vocabulary.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const FuzzDirectory directory;
  const std::string path = directory.Write("vocab.json", View(data, size));
  const auto vocabulary = Vocabulary::Load(path);
  if (!Accepted(vocabulary.status(), "vocab.json")) return 0;
  for (int id = 0; id < vocabulary->size(); ++id) {
    ATTEND_CHECK(vocabulary->Find(vocabulary->Token(id)) == id);
  }
  return 0;
}
