// Files of a tokenizer beside a directory without tokenizer.json: the input is
// each of them.
#include "engine/tokenizer/files/byte_ranks.h"
#include "engine/tokenizer/files/merge_list.h"
#include "engine/tokenizer/files/word_list.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const FuzzDirectory directory;
  const std::string ids = directory.Write(
      "ids.json", R"({"a": 0, "b": 1, "ab": 2, "c": 3, "abc": 4})");
  const std::string input = directory.Write("input", View(data, size));
  if (const auto words = LoadWordList(input);
      Accepted(words.status(), "input")) {
    ATTEND_CHECK(!(*words)["vocab"].empty());
  }
  (void)Accepted(LoadMergeList(input, input).status(), "input");
  if (const auto merges = LoadMergeList(ids, input);
      Accepted(merges.status(), "input")) {
    for (const auto& merge : (*merges)["merges"])
      ATTEND_CHECK(merge.size() == 2);
  }
  HfConfig config;
  config.settings = JsonFile::Of("settings", nlohmann::json::object());
  for (const bool tekken : {false, true}) {
    const auto ranks = tekken ? ReadTekken("input", View(data, size))
                              : ReadTiktoken("input", View(data, size), config);
    if (!Accepted(ranks.status(), "input")) continue;
    const auto json = ByteRanksJson("input", *ranks);
    if (!Accepted(json.status(), "input")) continue;
    ATTEND_CHECK((*json)["model"]["vocab"].size() >= ranks->tokens.size() ||
                 tekken);
  }
  return 0;
}
