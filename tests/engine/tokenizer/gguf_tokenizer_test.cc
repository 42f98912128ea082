#include "engine/tokenizer/gguf/gguf_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/json/read_file.h"
#include "engine/tokenizer/load_tokenizer.h"
#include "engine/tokenizer/spm/spm_file.h"
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
    ASSERT_EQ(ids.Take(), golden["lines"][i / kBlock].get<std::string>()) << i;
    ASSERT_EQ(texts.Take(), golden["texts"][i / kBlock].get<std::string>())
        << i;
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

// The metadata of a GGUF file with the vocabulary of bert/tokenizer.json.
json BertMetadata() {
  const json vocab = Read("bert/tokenizer.json")["model"]["vocab"];
  std::vector<std::string> tokens(vocab.size());
  std::vector<int> types(vocab.size(), 1);
  for (const auto& [token, id] : vocab.items()) {
    const bool special = token.size() > 1 && token[0] == '[';
    if (special) types[id] = 3;
    tokens[id] = special                         ? token
                 : absl::StartsWith(token, "##") ? token.substr(2)
                                                 : "\u2581" + token;
  }
  return {{"general.architecture", "bert"},
          {"tokenizer.ggml.model", "bert"},
          {"tokenizer.ggml.tokens", tokens},
          {"tokenizer.ggml.token_type", types},
          {"tokenizer.ggml.cls_token_id", vocab["[CLS]"]},
          {"tokenizer.ggml.seperator_token_id", vocab["[SEP]"]},
          {"tokenizer.ggml.unknown_token_id", vocab["[UNK]"]},
          {"tokenizer.ggml.padding_token_id", vocab["[PAD]"]},
          {"tokenizer.ggml.mask_token_id", vocab["[MASK]"]}};
}

// The vocabulary of a GGUF file, id by id.
struct Pieces {
  void Add(const std::string& token, int type, float score) {
    tokens.push_back(token);
    types.push_back(type);
    scores.push_back(score);
  }
  // The pieces of a SentencePiece model from `first` on.
  void AddFrom(const SpmFile& spm, size_t first) {
    for (size_t i = first; i < spm.pieces.size(); ++i) {
      const SpmFile::Piece& piece = spm.pieces[i];
      Add(piece.text, static_cast<int>(piece.type), piece.score);
    }
  }
  void AddPadding(size_t number) {
    Add(absl::StrCat("[PAD", number, "]"), 5, -10000);
  }

  // The metadata of a "t5" tokenizer of these pieces and the model's table.
  json Metadata(const std::string& architecture, const SpmFile& spm) const {
    std::vector<int> charsmap;
    for (const char byte : spm.charsmap) {
      charsmap.push_back(static_cast<unsigned char>(byte));
    }
    return {{"general.architecture", architecture},
            {"tokenizer.ggml.model", "t5"},
            {"tokenizer.ggml.tokens", tokens},
            {"tokenizer.ggml.token_type", types},
            {"tokenizer.ggml.scores", scores},
            {"tokenizer.ggml.precompiled_charsmap", charsmap},
            {"tokenizer.ggml.add_space_prefix", true},
            {"tokenizer.ggml.remove_extra_whitespaces", true}};
  }

  std::vector<std::string> tokens;
  std::vector<int> types;
  std::vector<float> scores;
};

// The metadata of spm-t5/spiece.model. llama.cpp has ids for T5's extra tokens,
// but not the tokens.
json T5Metadata() {
  const std::string path = std::string(kGolden) + "spm-t5/spiece.model";
  const auto spm = ParseSpmFile(path, *ReadFile(path));
  const size_t ids = (*LoadTokenizer(std::string(kGolden) + "spm-t5"))
                         ->vocab_size(Side::kSource);
  Pieces pieces;
  pieces.AddFrom(*spm, 0);
  for (size_t id = pieces.tokens.size(); id < ids; ++id) pieces.AddPadding(id);
  json metadata = pieces.Metadata("t5", *spm);
  metadata["tokenizer.ggml.eos_token_id"] = 1;
  metadata["tokenizer.ggml.padding_token_id"] = 0;
  return metadata;
}

// The same of spm-xlm-roberta, in the ids of transformers.
json XlmRobertaMetadata() {
  const std::string path =
      std::string(kGolden) + "spm-xlm-roberta/sentencepiece.bpe.model";
  const auto spm = ParseSpmFile(path, *ReadFile(path));
  Pieces pieces;
  for (const char* control : {"<s>", "<pad>", "</s>"}) {
    pieces.Add(control, 3, 0);
  }
  pieces.Add("<unk>", 2, 0);
  pieces.AddFrom(*spm, 3);
  pieces.AddPadding(pieces.tokens.size() - 1);
  json metadata = pieces.Metadata("bert", *spm);
  for (const char* added : {"bos", "eos"}) {
    metadata[absl::StrCat("tokenizer.ggml.add_", added, "_token")] = true;
  }
  metadata["tokenizer.ggml.bos_token_id"] = 0;
  metadata["tokenizer.ggml.eos_token_id"] = 2;
  metadata["tokenizer.ggml.unknown_token_id"] = 3;
  metadata["tokenizer.ggml.padding_token_id"] = 1;
  return metadata;
}

// tokenizer_test holds those of directories to transformers.
TEST(GgufTokenizerTest, CutsAsTheDirectoriesDo) {
  const Lines lines;
  for (const auto& [directory, metadata] :
       {std::pair("bert", BertMetadata()),
        {"spm-t5", T5Metadata()},
        {"spm-xlm-roberta", XlmRobertaMetadata()}}) {
    SCOPED_TRACE(directory);
    const auto expected = LoadTokenizer(std::string(kGolden) + directory);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto loaded = LoadGgufTokenizer(JsonFile::Of("m.gguf", metadata));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    const Tokenizer& tokenizer = *loaded->tokenizer;
    ASSERT_EQ(tokenizer.vocab_size(Side::kSource),
              (*expected)->vocab_size(Side::kSource));
    for (int id = 0; id < tokenizer.vocab_size(Side::kSource); ++id) {
      ASSERT_EQ(tokenizer.Piece(id, Side::kSource),
                (*expected)->Piece(id, Side::kSource));
      ASSERT_EQ(tokenizer.IsSpecial(id, Side::kSource),
                (*expected)->IsSpecial(id, Side::kSource));
    }
    for (int i = 0; i < (kSanitized ? 100 : 1000); ++i) {
      const std::string line = lines.Get(i);
      const std::string next = lines.Get(i + 1);
      EncodeInput input = {.text = line};
      if (i % 10 == 0) input.pair = next;
      const auto cut = tokenizer.Encode(input);
      const auto wanted = (*expected)->Encode(input);
      ASSERT_TRUE(cut.ok() && wanted.ok()) << line;
      ASSERT_EQ(cut->ids, wanted->ids) << line;
      ASSERT_EQ(cut->types, wanted->types) << line;
    }
  }
}

// Files of models with capitals say nothing of them.
TEST(GgufTokenizerTest, KeepsTheCapitalsOfItsWordPieces) {
  json metadata = {{"general.architecture", "bert"},
                   {"tokenizer.ggml.model", "bert"},
                   {"tokenizer.ggml.tokens",
                    {"[UNK]", "[CLS]", "[SEP]", "\u2581a", "b", "\u2581A"}},
                   {"tokenizer.ggml.token_type", {3, 3, 3, 1, 1, 1}}};
  const auto ids = [&] {
    const auto loaded = LoadGgufTokenizer(JsonFile::Of("m.gguf", metadata));
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded->tokenizer->Encode({.text = "Ab aB"})->ids;
  };
  EXPECT_THAT(ids(), ElementsAre(1, 5, 4, 0, 2));
  metadata["tokenizer.ggml.normalizer.lowercase"] = true;
  EXPECT_THAT(ids(), ElementsAre(1, 3, 4, 3, 4, 2));
  metadata["tokenizer.ggml.tokens"][1] = "<cls>";
  EXPECT_THAT(
      LoadGgufTokenizer(JsonFile::Of("m.gguf", metadata)).status().message(),
      HasSubstr("m.gguf: tokenizer.ggml.cls_token_id is missing, expected the "
                "id of a token, for there is no [CLS]"));
}

TEST(GgufTokenizerTest, RefusesWhatT5CannotBe) {
  const std::string prefix = "tokenizer.ggml.";
  const json charsmap = {200, 1, 0, 0, 5};
  const std::vector<std::tuple<std::string, json, const char*>> table = {
      {"general.architecture", "llama", "is \"llama\", expected t5 or bert"},
      {"general.architecture", "bert", "expected <s>, <pad>,"},
      {prefix + "scores", json(), "scores is missing, expected a score"},
      {prefix + "precompiled_charsmap", charsmap, "m.gguf: tokenizer: "},
      {prefix + "precompiled_charsmap", {300}, "precompiled_charsmap is [300]"},
      {prefix + "add_space_prefix", false, "is false, expected true"},
      {prefix + "add_eos_token", false, "is false, expected true"},
      {prefix + "token_type", json(), "0 unknown pieces, expected 1"},
  };
  for (const auto& [key, value, error] : table) {
    json metadata = T5Metadata();
    metadata[key] = value;
    const absl::Status status =
        LoadGgufTokenizer(JsonFile::Of("m.gguf", metadata)).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << key << " " << status;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("m.gguf: "), HasSubstr(error)));
  }
  json twice = T5Metadata();
  twice[prefix + "tokens"][9] = twice[prefix + "tokens"][8];
  EXPECT_THAT(
      LoadGgufTokenizer(JsonFile::Of("m.gguf", twice)).status().message(),
      HasSubstr("occurs twice"));
}

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

// Some files give them the type of a word: their text would reach the user.
TEST(GgufTokenizerTest, EndTokensAreSpecialWhateverTheirType) {
  json metadata = Small();
  metadata["tokenizer.ggml.tokens"][4] = "<|im_end|>";
  metadata["tokenizer.ggml.token_type"][4] = 1;
  const auto loaded = LoadGgufTokenizer(JsonFile::Of("m.gguf", metadata));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(loaded->tokenizer->IsSpecial(4, Side::kTarget));
  EXPECT_EQ(*loaded->tokenizer->Decode({1, 4}, Side::kTarget, false), "a");
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
  metadata["tokenizer.chat_template.tool_use"] =
      "tools {{ messages[0].content }}";
  const auto loaded = chat();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  Chat conversation;
  conversation.messages.push_back({"user", "hello", ""});
  EXPECT_EQ(*(*loaded)->Render(conversation, absl::UnixEpoch()), "<s>hello");
  conversation.variables = R"({"tools": [1]})";
  EXPECT_EQ(*(*loaded)->Render(conversation, absl::UnixEpoch()), "tools hello");
  // The model is of use without a template.
  for (const json& bad : {json("{% if %}"), json(7)}) {
    metadata["tokenizer.chat_template"] = bad;
    const auto refused = chat();
    ASSERT_TRUE(refused.ok()) << refused.status();
    EXPECT_THAT((*refused)->refusal().message(),
                HasSubstr("m.gguf: tokenizer.chat_template"));
  }
}

struct BadKey {
  const char* key;
  json value;
  const char* error;
};

TEST(GgufTokenizerTest, RefusesWhatItCannotBe) {
  const std::string prefix = "tokenizer.ggml.";
  const std::vector<BadKey> table = {
      {"model", "rwkv",
       "model is \"rwkv\", expected gpt2, llama, bert, t5 or "
       "none"},
      {"pre", "poro", "pre is \"poro\", expected one of gpt-2, "},
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
