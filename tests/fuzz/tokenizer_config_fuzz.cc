// The settings of a tokenizer: tokenizer_config.json, special_tokens_map.json,
// added_tokens.json and what it reads of config.json. The input is each of them
// in turn.
#include <nlohmann/json.hpp>

#include "engine/json/json_parse.h"
#include "engine/tokenizer/text/hf_config.h"
#include "engine/tokenizer/text/hf_token_json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const FuzzDirectory directories[4];
  static constexpr const char* kFiles[] = {"tokenizer_config.json",
                                           "special_tokens_map.json",
                                           "added_tokens.json", "config.json"};
  for (int i = 0; i < 4; ++i) {
    directories[i].Write(kFiles[i], View(data, size));
    const auto config = LoadHfConfig(directories[i].path());
    if (!Accepted(config.status(), kFiles[i])) continue;
    ATTEND_CHECK(ParseJson("added", ToJson(config->added)).ok());
    ATTEND_CHECK(ParseJson("special", ToJson(config->special)).ok());
  }
  return 0;
}
