#include "engine/checkpoint/gguf/tokens/gguf_end_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/field_rows.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

absl::StatusOr<std::vector<int>> EndTokens(const json& keys,
                                           const json& tokens) {
  json metadata = {{"tokenizer.ggml.tokens", tokens}};
  for (const auto& [key, id] : keys.items()) {
    metadata["tokenizer.ggml." + key + "_token_id"] = id;
  }
  return GgufEndTokens(JsonFile::Of("m.gguf", metadata), tokens.size());
}

TEST(GgufEndTokensTest, RowsOfTheField) {
  for (const json& row : FieldRows("gguf_end_tokens")) {
    const auto ends = EndTokens(row["keys"], row["tokens"]);
    ASSERT_TRUE(ends.ok()) << row["case"] << ends.status();
    json texts = json::array();
    for (const int id : *ends) texts.push_back(row["tokens"][id]);
    EXPECT_EQ(texts, row["ends"]) << row["case"];
  }
}

TEST(GgufEndTokensTest, AKeyNamesATokenOfTheVocabulary) {
  EXPECT_THAT(EndTokens({{"eot", 2}}, {"a", "b"}).status().message(),
              HasSubstr("m.gguf: tokenizer.ggml.eot_token_id is 2"));
}

TEST(GgufEndTokensTest, TokensBeyondTheTableAreIgnored) {
  const JsonFile metadata = JsonFile::Of(
      "m.gguf", {{"tokenizer.ggml.tokens", {"a", "</s>", "<|im_end|>"}}});
  EXPECT_EQ(*GgufEndTokens(metadata, 2), std::vector<int>{1});
}

}  // namespace
}  // namespace attend
