#include "engine/tokenizer/gguf/gguf_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/engine/tokenizer/lines.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kGolden[] = ATTEND_SOURCE_DIR "/tests/engine/tokenizer/golden/";
constexpr int kBlock = 100;

json Read(const std::string& path) {
  json read;
  std::ifstream(kGolden + path) >> read;
  return read;
}

// The metadata of a GGUF file with the vocabulary of a case of
// golden/make_gguf_tokenizers.py.
json MetadataOf(const json& golden) {
  const json saved =
      Read(golden["directory"].get<std::string>() + "/tokenizer.json");
  const json& ids = saved["model"]["vocab"];
  std::vector<std::string> tokens(ids.size());
  for (const auto& [token, id] : ids.items()) tokens[id.get<int>()] = token;
  json metadata = {{"general.architecture", golden["architecture"]},
                   {"tokenizer.ggml.model", golden["model"]},
                   {"tokenizer.ggml.bos_token_id", ids["<s>"]},
                   {"tokenizer.ggml.eos_token_id", ids["</s>"]},
                   {"tokenizer.ggml.unknown_token_id", ids["<unk>"]},
                   {"tokenizer.ggml.add_bos_token", false},
                   {"tokenizer.ggml.tokens", tokens}};
  json types = json::array();
  json scores = json::array();
  for (const std::string& token : tokens) {
    const json& added = saved["added_tokens"];
    const bool special =
        std::any_of(added.begin(), added.end(),
                    [&](const json& t) { return t["content"] == token; });
    types.push_back(special ? 3 : absl::StartsWith(token, "<0x") ? 6 : 1);
    scores.push_back(-static_cast<int>(scores.size()));
  }
  const json renamed = golden.value("renamed", json::object());
  for (const auto& [id, token] : renamed.items()) {
    metadata["tokenizer.ggml.tokens"][std::stoi(id)] = token;
    types[std::stoi(id)] = 3;
  }
  metadata["tokenizer.ggml.token_type"] = types;
  if (golden["merges"]) {
    json merges = json::array();
    for (const json& pair : saved["model"]["merges"]) {
      merges.push_back(absl::StrCat(pair[0].get<std::string>(), " ",
                                    pair[1].get<std::string>()));
    }
    metadata["tokenizer.ggml.merges"] = merges;
  } else {
    metadata["tokenizer.ggml.scores"] = scores;
  }
  if (golden.contains("pre")) metadata["tokenizer.ggml.pre"] = golden["pre"];
  for (const auto& [key, value] : golden["keys"].items()) {
    metadata["tokenizer.ggml." + key] = value;
  }
  return metadata;
}

class GoldenGgufTest : public testing::TestWithParam<int> {};

TEST_P(GoldenGgufTest, CutsLinesAsTransformersDoes) {
  const json golden = Read("gguf.json")[GetParam()];
  const auto loaded =
      LoadGgufTokenizer(JsonFile::Of("m.gguf", MetadataOf(golden)));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Lines lines;
  Digest ids, texts;
  const int blocks = kSanitized ? 3 : static_cast<int>(golden["lines"].size());
  for (int i = 0; i < blocks * kBlock; ++i) {
    const std::string line = lines.Get(i);
    const auto encoding = loaded->tokenizer->Encode({.text = line});
    ASSERT_TRUE(encoding.ok()) << encoding.status();
    for (const int id : encoding->ids) ids.Add(id);
    ids.Add(-1);
    const auto text =
        loaded->tokenizer->Decode(encoding->ids, Side::kTarget, false);
    ASSERT_TRUE(text.ok()) << text.status();
    for (const char c : *text) texts.Add(static_cast<unsigned char>(c));
    texts.Add(-1);
    if (i % kBlock != kBlock - 1) continue;
    ASSERT_EQ(ids.Take(), golden["lines"][i / kBlock]) << i;
    ASSERT_EQ(texts.Take(), golden["texts"][i / kBlock]) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, GoldenGgufTest,
    testing::Range(0, static_cast<int>(Read("gguf.json").size())),
    [](const auto& number) {
      std::string name = Read("gguf.json")[number.param]["name"];
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

json Small() {
  return {{"general.architecture", "llama"},
          {"tokenizer.ggml.model", "gpt2"},
          {"tokenizer.ggml.tokens", {"<s>", "a", "b", "ab", "<|im_start|>"}},
          {"tokenizer.ggml.token_type", {3, 1, 1, 1, 3}},
          {"tokenizer.ggml.merges", {"a b"}},
          {"tokenizer.ggml.bos_token_id", 0}};
}

TEST(GgufTokenizerTest, KeepsSpecialTokensWhole) {
  const auto loaded = LoadGgufTokenizer(JsonFile::Of("m.gguf", Small()));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const auto encoding = loaded->tokenizer->Encode({.text = "<|im_start|>aab"});
  ASSERT_TRUE(encoding.ok()) << encoding.status();
  EXPECT_THAT(encoding->ids, ElementsAre(4, 1, 3));
  EXPECT_TRUE(loaded->tokenizer->IsSpecial(4, Side::kTarget));
  EXPECT_EQ(loaded->config.bos, "<s>");
}

TEST(GgufTokenizerTest, MakesChatsByItsTemplates) {
  json metadata = Small();
  const auto chat = [&] {
    const JsonFile file = JsonFile::Of("m.gguf", metadata);
    return LoadGgufChat(file, LoadGgufTokenizer(file)->config);
  };
  EXPECT_EQ(*chat(), nullptr);
  metadata["tokenizer.chat_template"] =
      "{{ bos_token }}{{ messages[0]['content'] }}";
  metadata["tokenizer.chat_templates"] = {"tool_use"};
  metadata["tokenizer.chat_template.tool_use"] = "tools";
  const auto loaded = chat();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  Chat conversation;
  conversation.messages.push_back({"user", "hello", ""});
  EXPECT_EQ(*(*loaded)->Render(conversation, absl::UnixEpoch()), "<s>hello");
  conversation.variables = R"({"tools": [1]})";
  EXPECT_EQ(*(*loaded)->Render(conversation, absl::UnixEpoch()), "tools");
  metadata["tokenizer.chat_template"] = "{% if %}";
  EXPECT_THAT(chat().status().message(),
              HasSubstr("m.gguf: tokenizer.chat_template"));
}

struct BadKey {
  const char* key;
  json value;
  const char* error;
};

TEST(GgufTokenizerTest, RefusesWhatItCannotBe) {
  const std::string prefix = "tokenizer.ggml.";
  const std::vector<BadKey> table = {
      {"model", "rwkv", "model is \"rwkv\", expected gpt2, llama or none"},
      {"pre", "poro-chat", "pre is \"poro-chat\", expected one of default, "},
      {"tokens", json::array(), "tokens is [], expected one token or more"},
      {"tokens", {1}, "tokens is [1], expected a string or a list"},
      {"token_type", {1, 1}, "a type for each of the 5 tokens, not 2"},
      {"token_type", {1, 1, 1, 1, 9}, "an integer or a list of integers"},
      {"scores", {1}, "expected a list of 5 numbers"},
      {"bos_token_id", 5, "bos_token_id is 5, expected an integer in [0, 4]"},
      {"eos_token_id", -1, "eos_token_id is -1"},
      {"add_eos_token", true, "eos_token_id is missing"},
      {"add_bos_token", 1, "add_bos_token is 1, expected true or false"},
      {"merges", json(), "merges is missing"},
      {"merges", {"a z"}, "m.gguf: tokenizer: "},
      {"merges", {"nospace"}, "m.gguf: tokenizer: "},
  };
  for (const BadKey& bad : table) {
    json metadata = Small();
    metadata[prefix + bad.key] = bad.value;
    const absl::Status status =
        LoadGgufTokenizer(JsonFile::Of("m.gguf", metadata)).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << bad.key << " " << status;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("m.gguf: "), HasSubstr(bad.error)));
  }
  json pieces = Small();
  pieces[prefix + "model"] = "llama";
  pieces.erase(prefix + "merges");
  const auto error = [&] {
    return std::string(
        LoadGgufTokenizer(JsonFile::Of("m.gguf", pieces)).status().message());
  };
  EXPECT_THAT(error(), HasSubstr("scores is missing, expected a score for "
                                 "each token, or merges"));
  pieces[prefix + "scores"] = {0, 0, 0, 0, 0};
  pieces[prefix + "tokens"][1] = std::string(1000, 'a');
  EXPECT_THAT(error(), HasSubstr("at most 256 bytes in a piece"));
}

}  // namespace
}  // namespace attend
