#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/tokenizer/load_tokenizer.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr char kMarianGolden[] = ATTEND_SOURCE_DIR "/tests/golden/marian/plain";

// Marian's tokenizer with tokens that a tuning added after its 90.
class AddedTokensTest : public testing::Test {
 protected:
  AddedTokensTest() {
    std::string name = testing::TempDir() + "attend-XXXXXX";
    directory_ = mkdtemp(name.data());
    for (const char* file : {"source.spm", "target.spm", "vocab.json"}) {
      fs::copy(fs::path(kMarianGolden) / file, fs::path(directory_) / file);
    }
    Write("tokenizer_config.json",
          R"({"tokenizer_class": "MarianTokenizer", "separate_vocabs": false,
              "additional_special_tokens": ["<x>"]})");
  }
  ~AddedTokensTest() override { fs::remove_all(directory_); }

  void Write(const std::string& file, const std::string& contents) {
    std::ofstream(directory_ + "/" + file) << contents;
  }
  std::string Error(const std::string& added) {
    Write("added_tokens.json", added);
    const absl::Status status = LoadTokenizer(directory_).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  std::string directory_;
};

// Ids and texts are those of transformers 5.23.
TEST_F(AddedTokensTest, AreFoundInTextsAndDecoded) {
  Write("added_tokens.json", R"({"<sep>": 90, "Tok1": 91, "<x>": 92})");
  const auto tokenizer = LoadTokenizer(directory_);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->vocab_size(Side::kTarget), 93);
  const struct {
    std::string text, plain, special;
    std::vector<int> ids;
  } cases[] = {
      {"a small dog<sep>b Tok1 a",
       "a small dog<sep> bTok1 a",
       "a small dog<sep> bTok1 a</s>",
       {11, 24, 10, 42, 5, 73, 14, 90, 17, 91, 11, 0}},
      {"<x> a Tok1Tok1 dog </s> b",
       "aTok1Tok1 dog b",
       "<x> aTok1Tok1 dog</s> b</s>",
       {92, 11, 91, 91, 73, 14, 0, 17, 0}},
      {"x<sep> y", "<sep> y", "<unk> <sep> y</s>", {2, 1, 90, 2, 46, 0}}};
  for (const auto& [text, plain, special, ids] : cases) {
    EXPECT_EQ((*tokenizer)->Encode({.text = text})->ids, ids);
    EXPECT_EQ(*(*tokenizer)->Decode(ids, Side::kTarget, false), plain);
    EXPECT_EQ(*(*tokenizer)->Decode(ids, Side::kTarget, true), special);
  }
}

TEST_F(AddedTokensTest, WrongIdsAreNamed) {
  EXPECT_THAT(Error(R"({"<sep>": 91})"),
              HasSubstr("vocab.json: the added token \"<sep>\" has id 91, "
                        "expected 90, the next one"));
  EXPECT_THAT(Error(R"({"</s>": 90})"),
              HasSubstr("expected 0, as in the vocabulary"));
}

}  // namespace
}  // namespace attend
