// vocab.json of Marian and M2M100, and the lists of CTranslate2.
#include "engine/tokenizer/spm/vocabulary.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const FuzzDirectory directory;
  for (const char* name : {"list.json", "list.txt"}) {
    const auto list =
        Vocabulary::LoadList(directory.Write(name, View(data, size)));
    if (!Accepted(list.status(), name)) continue;
    for (int id = 0; id < list->size(); ++id) {
      const int first = list->Find(list->Token(id));
      ATTEND_CHECK(first >= 0 && first <= id);
    }
  }
  const std::string path = directory.Write("vocab.json", View(data, size));
  const auto vocabulary = Vocabulary::Load(path);
  if (!Accepted(vocabulary.status(), "vocab.json")) return 0;
  for (int id = 0; id < vocabulary->size(); ++id) {
    ATTEND_CHECK(vocabulary->Find(vocabulary->Token(id)) == id);
  }
  return 0;
}
