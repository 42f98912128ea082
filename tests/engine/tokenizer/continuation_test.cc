#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "engine/json/read_file.h"
#include "engine/tokenizer/hf/hf_tokenizer.h"
#include "engine/tokenizer/load_tokenizer.h"
#include "engine/tokenizer/text/utf8.h"
#include "tests/engine/tokenizer/lines.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

std::string Directory(const std::string& name) {
  return ATTEND_SOURCE_DIR "/tests/engine/tokenizer/golden/" + name;
}

std::unique_ptr<Tokenizer> Load(const std::string& name) {
  auto loaded = LoadTokenizer(Directory(name));
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return *std::move(loaded);
}

std::string Decode(const Tokenizer& tokenizer, absl::Span<const int> ids) {
  return *tokenizer.Decode(ids, Side::kTarget, /*keep_special=*/false);
}

// The text of ids[at...] after those before, token by token.
std::string Continued(const Tokenizer& tokenizer, absl::Span<const int> ids,
                      size_t at) {
  const auto stream = tokenizer.NewStream(ids.subspan(0, at));
  std::string text;
  for (const int id : ids.subspan(at)) text += stream->Append(id);
  return text + stream->Flush();
}

std::vector<int> Ids(const Tokenizer& tokenizer, const std::string& text) {
  return tokenizer.Encode({.text = text, .add_special = false})->ids;
}

// Every cut of a text whose two parts decode to it. Those of golden lines
// decode as transformers has them (see hf_tokenizer_test.cc).
void ExpectContinuations(const Tokenizer& tokenizer,
                         const std::vector<int>& ids, int& checked) {
  const std::string all = Decode(tokenizer, ids);
  for (size_t at = 0; at <= ids.size(); ++at) {
    const std::string before =
        Decode(tokenizer, absl::MakeSpan(ids).subspan(0, at));
    // In the middle of a character there is no telling.
    if (!absl::StartsWith(all, before)) continue;
    if (absl::EndsWith(before, kReplacement)) continue;
    ASSERT_EQ(Continued(tokenizer, ids, at), all.substr(before.size()))
        << "after " << at << " ids of: " << all;
    ++checked;
  }
}

constexpr int kTexts = kSanitized ? 40 : 300;

class ContinuationTest : public testing::TestWithParam<const char*> {};

TEST_P(ContinuationTest, IsWhatFollows) {
  const std::unique_ptr<Tokenizer> tokenizer = Load(GetParam());
  const Lines lines;
  int checked = 0;
  for (int i = 0; i < kTexts; ++i) {
    const std::vector<int> ids = tokenizer->Encode({.text = lines.Get(i)})->ids;
    ExpectContinuations(*tokenizer, ids, checked);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(checked, 6 * kTexts);
}

// Byte-level BPE, Metaspace, SentencePiece's BPE with bytes as Llama's, and no
// decoder; with tokens of bytes that are no characters, too.
INSTANTIATE_TEST_SUITE_P(Tokenizers, ContinuationTest,
                         testing::Values("roberta", "nllb", "xlm-roberta",
                                         "byte-fallback", "words"));

TEST(ContinuationOfBytesTest, IsWhatFollows) {
  const std::unique_ptr<Tokenizer> tokenizer = Load("byte-fallback");
  std::mt19937 random(1);
  const std::vector<std::string> texts = {"é", "你", "🐕", "b"};
  int checked = 0;
  for (int i = 0; i < kTexts; ++i) {
    std::string text;
    for (int n = 0; n < 40; ++n) text += texts[random() % texts.size()];
    std::vector<int> ids;
    for (const unsigned char byte : text) {
      const int id =
          tokenizer->TokenId(absl::StrFormat("<0x%02X>", byte), Side::kTarget);
      ASSERT_GE(id, 0);
      ids.push_back(id);
      if (random() % 9 == 0) ids.push_back(Ids(*tokenizer, "the cat")[0]);
    }
    ExpectContinuations(*tokenizer, ids, checked);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(checked, 3 * kTexts);
}

// As transformers' decode() of both less that of the prompt.
TEST(ContinuationExamplesTest, KeepTheSpace) {
  for (const char* name : {"roberta", "nllb", "xlm-roberta", "byte-fallback"}) {
    const std::unique_ptr<Tokenizer> tokenizer = Load(name);
    const std::vector<int> ids = Ids(*tokenizer, "the cat the cat");
    const std::string all = Decode(*tokenizer, ids);
    EXPECT_EQ(all, "the cat the cat") << name;
    bool spaced = false;
    for (size_t at = 1; at < ids.size(); ++at) {
      spaced |= Continued(*tokenizer, ids, at) == " the cat";
    }
    EXPECT_TRUE(spaced) << name;
  }
}

TEST(ContinuationExamplesTest, MetaspaceOfTheFirstWordOnly) {
  const std::string path = Directory("xlm-roberta/tokenizer.json");
  auto json = nlohmann::json::parse(*ReadFile(path));
  json["decoder"]["prepend_scheme"] = "first";
  const auto tokenizer = HfTokenizer::Create(path, json.dump(), HfConfig());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  int checked = 0;
  ExpectContinuations(**tokenizer, Ids(**tokenizer, "the cat sat on it"),
                      checked);
  EXPECT_GT(checked, 4);
}

TEST(ContinuationExamplesTest, UnfinishedCharacterComesWhole) {
  const std::unique_ptr<Tokenizer> tokenizer = Load("roberta");
  const std::vector<int> ids = Ids(*tokenizer, "🦣");
  ASSERT_GT(ids.size(), 1u);
  EXPECT_EQ(Continued(*tokenizer, ids, 1), "🦣");
}

}  // namespace
}  // namespace attend
