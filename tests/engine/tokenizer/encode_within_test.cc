#include "engine/tokenizer/text/encode_within.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/hf/hf_tokenizer.h"
#include "engine/tokenizer/load_tokenizer.h"
#include "tests/engine/tokenizer/lines.h"
#include "tests/support/fake_tokenizer.h"
#include "tests/support/field_rows.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr char kGolden[] = ATTEND_SOURCE_DIR "/tests/engine/tokenizer/golden/";

// Counts the bytes that it is given.
class Counting final : public Tokenizer {
 public:
  absl::StatusOr<Encoding> Encode(const EncodeInput& input) const override {
    bytes += input.text.size() + input.pair.value_or("").size();
    return fake.Encode(input);
  }
  absl::StatusOr<std::string> Decode(absl::Span<const int> ids, Side side,
                                     bool keep_special) const override {
    return fake.Decode(ids, side, keep_special);
  }
  int vocab_size(Side side) const override { return fake.vocab_size(side); }
  absl::string_view Piece(int id, Side side) const override {
    return fake.Piece(id, side);
  }
  int TokenId(absl::string_view piece, Side side) const override {
    return fake.TokenId(piece, side);
  }
  bool IsSpecial(int id, Side side) const override {
    return fake.IsSpecial(id, side);
  }
  absl::string_view TokenText(int id) const override {
    return fake.TokenText(id);
  }
  size_t longest_token() const override { return longest; }

  FakeTokenizer fake;
  size_t longest = 1;
  mutable size_t bytes = 0;
};

// A text of some bytes in lines of all scripts.
std::string LongText(size_t bytes, int first_line) {
  const Lines lines;
  std::string text;
  for (int i = first_line; text.size() < bytes; ++i) {
    absl::StrAppend(&text, lines.Get(i), " ");
  }
  return text;
}

void ExpectSame(const Encoding& one, const Encoding& other) {
  EXPECT_EQ(one.ids, other.ids);
  EXPECT_EQ(one.types, other.types);
  EXPECT_EQ(one.truncated, other.truncated);
  ASSERT_EQ(one.origins.size(), other.origins.size());
  for (size_t i = 0; i < one.origins.size(); ++i) {
    EXPECT_EQ(one.origins[i].text, other.origins[i].text) << i;
    EXPECT_EQ(one.origins[i].begin, other.origins[i].begin) << i;
    EXPECT_EQ(one.origins[i].end, other.origins[i].end) << i;
  }
}

class EncodeWithinTest : public testing::TestWithParam<std::string> {};

TEST_P(EncodeWithinTest, CutsAsTheWholeEncodingIsCut) {
  auto tokenizer = LoadTokenizer(GetParam());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const std::string pair = LongText(200, 1000);
  for (const int tokens : {2, 40, 200}) {
    for (const int line : {0, 300}) {
      if (kSanitized && tokens != 40) continue;
      const std::string text = LongText(40000, line);
      for (const bool paired : {false, true}) {
        EncodeInput input = {.text = text};
        if (paired) input.pair = absl::string_view(pair).substr(0, 120);
        const auto found = EncodeWithin(**tokenizer, input,
                                        {.tokens = tokens, .truncate = true});
        ASSERT_TRUE(found.ok()) << found.status();
        input.max_tokens = tokens;
        ExpectSame(*found, *(*tokenizer)->Encode(input));
      }
    }
  }
}

TEST_P(EncodeWithinTest, GivesWhatFitsWhole) {
  auto tokenizer = LoadTokenizer(GetParam());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const std::string text = LongText(20000, 0);
  const Encoding whole = *(*tokenizer)->Encode({.text = text});
  const int tokens = static_cast<int>(whole.ids.size());
  const auto found =
      EncodeWithin(**tokenizer, {.text = text}, {.tokens = tokens});
  ASSERT_TRUE(found.ok()) << found.status();
  ExpectSame(*found, whole);
}

// Texts of as many bytes as any model takes.
TEST_P(EncodeWithinTest, HostileTextsTakeBoundedTime) {
  auto tokenizer = LoadTokenizer(GetParam());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  std::vector<const char*> parts = {"a",
                                    "a\xcc\x81\xcc\x81",
                                    "\xf0\x9f\x91\xa9\xe2\x80\x8d",
                                    "ab",
                                    " ",
                                    "a ",
                                    "\n",
                                    ".",
                                    "\t!",
                                    "1",
                                    "\xea\x80\x80",
                                    "\xef\xb7\xba"};
  if (kSanitized) parts.resize(3);
  for (const char* part : parts) {
    std::string text;
    while (text.size() < kMinTextLimit) text += part;
    const absl::Time begin = absl::Now();
    ASSERT_TRUE((*tokenizer)->Encode({.text = text}).ok());
    EXPECT_LT(absl::Now() - begin, absl::Seconds(kSanitized ? 60 : 5)) << part;
  }
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, EncodeWithinTest,
                         testing::Values(ATTEND_SOURCE_DIR "/models/en-de",
                                         absl::StrCat(kGolden, "bert"),
                                         absl::StrCat(kGolden, "byte-fallback"),
                                         absl::StrCat(kGolden, "m2m-100"),
                                         absl::StrCat(kGolden, "nllb"),
                                         absl::StrCat(kGolden, "roberta"),
                                         absl::StrCat(kGolden, "spm-t5"),
                                         absl::StrCat(kGolden, "t5"),
                                         absl::StrCat(kGolden, "xlm-roberta")),
                         [](const auto& tested) {
                           std::string name =
                               tested.param.substr(tested.param.rfind('/') + 1);
                           std::erase(name, '-');
                           return name;
                         });

TEST(TextLimitsTest, LooksAtNoMoreThanItTakes) {
  const Counting tokenizer;
  const std::string text(10 << 20, 'a');
  const auto cut = EncodeWithin(tokenizer, {.text = text},
                                {.tokens = 100, .truncate = true});
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ(cut->ids.size(), 100u);
  EXPECT_TRUE(cut->truncated);
  EXPECT_LT(tokenizer.bytes, 100000u);
  tokenizer.bytes = 0;
  const absl::Status refused =
      EncodeWithin(tokenizer, {.text = text}, {.tokens = 100}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("text has 10485760 bytes, of which "
                                           "4096 are already 4096 tokens, "
                                           "limit is 100 tokens"));
  EXPECT_LT(tokenizer.bytes, 100000u);
}

// Without truncation. BERT leaves out spaces and control characters.
TEST(TextLimitsTest, ATextOfFewTokensIsReadUpToItsBytes) {
  auto tokenizer = LoadTokenizer(absl::StrCat(kGolden, "bert"));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const TextLimits limits = {.tokens = 10};
  const size_t most = MaxTextBytes(**tokenizer, 10);
  EXPECT_EQ(most, kMinTextLimit);
  std::string text(most - 100, ' ');
  EXPECT_EQ(EncodeWithin(**tokenizer, {.text = text + "."}, limits)->ids.size(),
            3u);
  text.append(most, ' ');
  const absl::Status refused =
      EncodeWithin(**tokenizer, {.text = "a", .pair = text}, limits).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(refused.message(),
              HasSubstr("pair has 130972 bytes, limit is 65536"));
}

// tests/field/long_texts.json: ids of transformers.
TEST(TextLimitsTest, TextsOfFewTokensAreCutAsInTransformers) {
  for (const nlohmann::json& row : FieldRows("long_texts")) {
    SCOPED_TRACE(row["case"].get<std::string>());
    auto tokenizer =
        LoadTokenizer(kGolden + row["tokenizer"].get<std::string>());
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    std::string text = row["before"];
    for (int i = 0; i < row["times"]; ++i) {
      text += row["repeated"].get_ref<const std::string&>();
    }
    text += row["after"].get_ref<const std::string&>();
    const auto cut = EncodeWithin(**tokenizer, {.text = text},
                                  {.tokens = row["tokens"], .truncate = true});
    ASSERT_TRUE(cut.ok()) << cut.status();
    EXPECT_EQ(cut->ids, row["ids"].get<std::vector<int>>());
  }
}

// A text that has few tokens in all the bytes that are read of it.
TEST(TextLimitsTest, ATextIsCutAtItsBytes) {
  auto tokenizer = LoadTokenizer(absl::StrCat(kGolden, "bert"));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const TextLimits limits = {.tokens = 10, .truncate = true};
  std::string text = "the ";
  text.append(MaxCutBytes(**tokenizer, 10) - text.size(), ' ');
  const auto whole = EncodeWithin(**tokenizer, {.text = text}, limits);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_FALSE(whole->truncated);
  text.append(10 << 20, ' ');
  text += "cat";
  for (const bool paired : {false, true}) {
    EncodeInput input = {.text = paired ? absl::string_view("the") : text};
    if (paired) input.pair = text;
    const auto cut = EncodeWithin(**tokenizer, input, limits);
    ASSERT_TRUE(cut.ok()) << cut.status();
    EXPECT_TRUE(cut->truncated);
    EXPECT_EQ(cut->ids, (*tokenizer)
                            ->Encode({.text = "the",
                                      .pair = paired ? std::optional("the")
                                                     : std::nullopt})
                            ->ids);
  }
}

// Refuses long texts, as a regular expression does whose search takes too long.
class Refusing final : public Tokenizer {
 public:
  absl::StatusOr<Encoding> Encode(const EncodeInput& input) const override {
    RETURN_IF_ERROR(CheckTexts(input));
    if (input.text.size() > 10000) return absl::InvalidArgumentError("limit");
    Encoding encoding;
    encoding.Append(7, 0, {0, 0, static_cast<int>(input.text.size())});
    encoding.text_tokens[0] = 1;
    return encoding;
  }
  absl::StatusOr<std::string> Decode(absl::Span<const int>, Side,
                                     bool) const override {
    return "";
  }
  int vocab_size(Side) const override { return 8; }
  absl::string_view Piece(int, Side) const override { return ""; }
  int TokenId(absl::string_view, Side) const override { return -1; }
  bool IsSpecial(int, Side) const override { return false; }
  absl::string_view TokenText(int) const override { return ""; }
};

TEST(TextLimitsTest, WhatWasReadBeforeARefusalIsTheResult) {
  const Refusing tokenizer;
  std::string text(50000, 'a');
  const TextLimits cuts = {.tokens = 10, .truncate = true};
  const auto cut = EncodeWithin(tokenizer, {.text = text}, cuts);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_TRUE(cut->truncated);
  EXPECT_EQ(cut->origins[0].end, 4096);
  EXPECT_FALSE(EncodeWithin(tokenizer, {.text = text}, {.tokens = 10}).ok());
  text[15000] = '\xff';
  EXPECT_THAT(EncodeWithin(tokenizer, {.text = text}, cuts).status().message(),
              HasSubstr("not UTF-8 at byte 15000"));
}

TEST(TextLimitsTest, EndsBetweenPartsWithItsCall) {
  Counting tokenizer;
  tokenizer.longest = 1 << 20;
  int looks = 0;
  const std::string text(3 << 20, 'a');
  const absl::Status ended =
      EncodeWithin(tokenizer, {.text = text},
                   {.tokens = 10000, .ended = [&] { return ++looks > 0; }})
          .status();
  EXPECT_TRUE(absl::IsCancelled(ended)) << ended;
  EXPECT_EQ(tokenizer.bytes, 0u);
}

TEST(TextLimitsTest, ALimitIsThatOfTheLongestTokens) {
  Counting tokenizer;
  EXPECT_EQ(MaxTextBytes(tokenizer, 512), kMinTextLimit);
  tokenizer.longest = 200;
  EXPECT_EQ(MaxTextBytes(tokenizer, 512), 512u * 200);
  auto bundled = LoadTokenizer(ATTEND_SOURCE_DIR "/models/en-de");
  ASSERT_TRUE(bundled.ok()) << bundled.status();
  size_t longest = 0;
  for (const Side side : {Side::kSource, Side::kTarget}) {
    for (int id = 0; id < (*bundled)->vocab_size(side); ++id) {
      longest = std::max(longest, (*bundled)->Piece(id, side).size());
    }
  }
  EXPECT_EQ((*bundled)->longest_token(), longest);
}

// The library takes the third power of the length of a word.
TEST(TextLimitsTest, WordsWithoutALimitTakeBoundedTime) {
  const nlohmann::json costly = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", nlohmann::json::array()},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
      {"post_processor", nullptr},
      {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
      {"model",
       {{"type", "WordPiece"},
        {"unk_token", "?"},
        {"continuing_subword_prefix", "##"},
        {"max_input_chars_per_word", 10000000},
        {"vocab",
         {{"?", 0}, {"a", 1}, {"##a", 2}, {"##aa", 3}, {"##\u00e9", 4}}}}}};
  auto words = HfTokenizer::Create("words.json", costly.dump(), {});
  ASSERT_TRUE(words.ok()) << words.status();
  std::string text(40000, 'a');
  const absl::Time begin = absl::Now();
  auto encoding = (*words)->Encode({.text = text + "\u00e9 ab"});
  ASSERT_TRUE(encoding.ok()) << encoding.status();
  std::vector<int> expected(20003, 3);
  expected[0] = 1;
  expected[20000] = 2;
  expected[20001] = 4;
  expected[20002] = 0;
  EXPECT_EQ(encoding->ids, expected);
  EXPECT_EQ(encoding->origins[20001].begin, 40000);
  EXPECT_EQ(encoding->origins[20001].end, 40002);

  EXPECT_LT(absl::Now() - begin, absl::Seconds(kSanitized ? 60 : 5));
}

// Characters of three bytes without a space: none is cut.
TEST(TextLimitsTest, CutsNoCharacter) {
  auto tokenizer = LoadTokenizer(absl::StrCat(kGolden, "roberta"));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  std::string text;
  while (text.size() < 300000) text += "\xe6\xbc\xa2\xe5\xad\x97";
  for (const int shift : {0, 1, 2}) {
    const std::string shifted = std::string(shift, 'x') + text;
    const auto found = EncodeWithin(**tokenizer, {.text = shifted},
                                    {.tokens = 50, .truncate = true});
    ASSERT_TRUE(found.ok()) << found.status();
    ExpectSame(*found,
               *(*tokenizer)->Encode({.text = shifted, .max_tokens = 50}));
  }
}

}  // namespace
}  // namespace attend
