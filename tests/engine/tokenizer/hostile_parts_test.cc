// Directories without a tokenizer.json whose files are wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/tokenizer/load_tokenizer.h"
#include "tests/support/spm_bytes.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kRanksGolden[] =
    ATTEND_SOURCE_DIR "/tests/engine/tokenizer/golden/files/ranks/";

class HostilePartsTest : public testing::Test {
 protected:
  HostilePartsTest() {
    std::string name = testing::TempDir() + "attend-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~HostilePartsTest() override { fs::remove_all(directory_); }

  void Write(const std::string& file, const std::string& contents) {
    std::ofstream(directory_ + "/" + file, std::ios::binary) << contents;
  }
  void Class(const std::string& name) {
    Write("tokenizer_config.json",
          absl::StrCat(R"({"tokenizer_class": ")", name, "\"}"));
  }
  std::string Error(const std::string& file, const std::string& contents) {
    Write(file, contents);
    const absl::Status status = LoadTokenizer(directory_).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(directory_ + "/" + file));
    return std::string(status.message());
  }
  // The contents of a golden file, changed at random, end no process.
  void Flip(const std::string& file, const std::string& from) {
    std::ostringstream text;
    text << std::ifstream(kRanksGolden + from, std::ios::binary).rdbuf();
    std::mt19937 random(7);
    for (int round = 0; round < 60; ++round) {
      std::string changed = text.str();
      changed.resize(1 + random() % changed.size());
      for (int i = 0; i < 3; ++i) {
        changed[random() % changed.size()] = "0\"{}[] =\n,A\xff"[random() % 12];
      }
      Write(file, changed);
      const auto tokenizer = LoadTokenizer(directory_);
      if (!tokenizer.ok()) continue;
      (void)(*tokenizer)->Encode({.text = "the cat sits"});
    }
  }

  std::string directory_;
};

TEST_F(HostilePartsTest, Merges) {
  Class("GPT2Tokenizer");
  Write("vocab.json", R"({"a": 0, "b": 1, "ab": 2})");
  const absl::Status missing = LoadTokenizer(directory_).status();
  EXPECT_TRUE(absl::IsNotFound(missing)) << missing;
  EXPECT_THAT(std::string(missing.message()), HasSubstr("merges.txt"));
  const auto error = [&](const std::string& merges) {
    return Error("merges.txt", merges);
  };
  EXPECT_THAT(error("#version: 0.2\na b\na"),
              HasSubstr("line 3 is \"a\", expected two tokens"));
  EXPECT_THAT(error("a b\n\n"), HasSubstr("line 2 is \"\""));
  EXPECT_THAT(error("a  b\n"), HasSubstr("line 1"));
  EXPECT_THAT(error("b a\n"),
              AllOf(HasSubstr("line 1 merges \"b\" and \"a\""),
                    HasSubstr("\"ba\" is not in the vocabulary")));
  EXPECT_THAT(error("a b\nx a\n"), HasSubstr("\"x\" is not in the vocab"));
  EXPECT_THAT(error("a b\n\xff a\n"), HasSubstr("line 2 is not UTF-8"));
  EXPECT_THAT(error(std::string(1 << 21, '\n').insert(0, "#version\n")),
              HasSubstr("line 2"));
  std::string many;
  for (int i = 0; i < (1 << 21); ++i) many += "#version\n";
  EXPECT_THAT(error(many + "a b\n"), HasSubstr("limit is 2097152"));
  Write("merges.txt", "#version: 0.2\r\na b\r\n");
  const auto tokenizer = LoadTokenizer(directory_);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->Encode({.text = "ab"})->ids, std::vector<int>{2});
}

TEST_F(HostilePartsTest, Vocabularies) {
  Class("RobertaTokenizer");
  Write("merges.txt", "");
  const auto error = [&](const std::string& json) {
    return Error("vocab.json", json);
  };
  EXPECT_THAT(error(R"({"a": 0, "b": 0})"), HasSubstr("which token \"a\" has"));
  EXPECT_THAT(error(R"({"a": 16777216})"), HasSubstr("limits are 0 and"));
  EXPECT_THAT(error(R"({"a": -1})"), HasSubstr("\"a\" has id -1"));
  EXPECT_THAT(error(R"({"a": [0]})"), HasSubstr("\"a\" has id [0]"));
  EXPECT_THAT(error("{}"), HasSubstr("has no tokens"));
  EXPECT_THAT(error("{\"\xff\": 1}"), HasSubstr("UTF-8"));
  Class("BertTokenizer");
  EXPECT_THAT(Error("vocab.txt", "[UNK]\n\xff\n"),
              HasSubstr("line 2 is not UTF-8"));
  EXPECT_THAT(Error("vocab.txt", ""), HasSubstr("has no tokens"));
  EXPECT_THAT(Error("vocab.txt", "a\nb\n"), HasSubstr("[UNK]"));
}

TEST_F(HostilePartsTest, Ranks) {
  Class("PreTrainedTokenizerFast");
  const auto error = [&](const std::string& text) {
    return Error("tokenizer.model", text);
  };
  EXPECT_THAT(error("YQ== 0\nYg=\n"),
              HasSubstr("line 2 is \"Yg=\", expected base64 and a rank"));
  EXPECT_THAT(error("YQ== 0\n%%% 1\n"), HasSubstr("line 2"));
  EXPECT_THAT(error("YQ== 0\nYg== -1\n"), HasSubstr("line 2"));
  EXPECT_THAT(error("YQ== 0\nYg== 2097152\n"), HasSubstr("line 2"));
  EXPECT_THAT(error("YQ== 0\nYQ== 1\n"), HasSubstr("an earlier line has"));
  EXPECT_THAT(error("YQ== 0\nYg== 0\n"), HasSubstr("an earlier line has"));
  EXPECT_THAT(error("YQ== 0\nYg== 7\n"), HasSubstr("ranks up to 7"));
  EXPECT_THAT(error("not a model"), HasSubstr("not a sentencepiece model"));
  Flip("tokenizer.model", "tokenizer.model");
}

TEST_F(HostilePartsTest, Tekken) {
  Class("PreTrainedTokenizerFast");
  const auto error = [&](const std::string& config, const std::string& vocab,
                         const std::string& special) {
    return Error("tekken.json",
                 absl::StrCat("{\"config\": {\"pattern\": \".\"", config,
                              "}, \"vocab\": [", vocab,
                              "], \"special_tokens\": [", special, "]}"));
  };
  const std::string token = R"({"token_bytes": "YQ=="})";
  const std::string special = R"({"rank": 0, "token_str": "<s>"})";
  EXPECT_THAT(error("", token + "," + token, special),
              HasSubstr("vocab[1]: token_bytes"));
  EXPECT_THAT(error("", R"({"token_bytes": "*"})", special),
              HasSubstr("token_bytes"));
  EXPECT_THAT(error("", "", special), HasSubstr("vocab"));
  EXPECT_THAT(error("", "7", special), HasSubstr("vocab"));
  EXPECT_THAT(error("", token, special + "," + special), HasSubstr("rank"));
  EXPECT_THAT(error("", token, R"({"rank": 1, "token_str": "<s>"})"),
              HasSubstr("rank"));
  EXPECT_THAT(
      error(R"(, "default_num_special_tokens": 1000000000000)", token, special),
      HasSubstr("default_num_special_tokens"));
  EXPECT_THAT(error(R"(, "default_vocab_size": 1)", token, special),
              HasSubstr("vocab"));
  Flip("tekken.json", "tekken.json");
}

// What cannot be built is refused by the name of its class.
TEST_F(HostilePartsTest, ClassesThatNeedOtherFiles) {
  const auto error = [&](const std::string& name) {
    Class(name);
    return Error("vocab.json", "{}");
  };
  EXPECT_THAT(error("CTRLTokenizer"),
              AllOf(HasSubstr("CTRLTokenizer"), HasSubstr("other files")));
  EXPECT_THAT(error("BertTokenizer"), HasSubstr("BertTokenizer"));
  EXPECT_THAT(error("PreTrainedTokenizerFast"),
              HasSubstr("needs a tokenizer.json"));
  EXPECT_THAT(error("NllbTokenizer"), HasSubstr("NllbTokenizer"));
  // A list of words takes no text away that there was.
  fs::remove(directory_ + "/vocab.json");
  Write("vocab.txt", "a\n");
  Class("PhobertTokenizer");
  const auto ids = LoadTokenizer(directory_);
  ASSERT_TRUE(ids.ok()) << ids.status();
  EXPECT_THAT(std::string((*ids)->Encode({.text = "a"}).status().message()),
              HasSubstr("PhobertTokenizer, which reads other files"));
}

// A piece that is too long would take the square of its length.
TEST_F(HostilePartsTest, LongPieces) {
  Class("LlamaTokenizer");
  constexpr int kNormal = 1, kUnknown = 2;
  EXPECT_THAT(Error("tokenizer.model",
                    SpmPiece("<unk>", kUnknown) +
                        SpmPiece(std::string(1025, 'a'), kNormal, -1)),
              HasSubstr("piece 1 has 1025 bytes, limit is 1024"));
}

}  // namespace
}  // namespace attend
