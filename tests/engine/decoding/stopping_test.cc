#include "engine/decoding/stopping.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"

namespace attend {
namespace {

using ::testing::ElementsAre;

TEST(StoppingTest, EndIdsAreEachThereOnce) {
  GenerationParams params;
  params.eos_ids = {3, 1};
  params.stop_ids = {1, 7, 7};
  EXPECT_THAT(EndIds(params), ElementsAre(3, 1, 7));
}

TEST(StoppingTest, EndIdsAndLength) {
  GenerationParams params;
  params.eos_ids = {0};
  params.stop_ids = {4};
  params.forced_prefix = {0, 0};
  params.max_new_tokens = 2;
  Stopping stopping({params, PromptOf(params)});
  const std::vector<int> prompt = {9, 0, 0};
  EXPECT_EQ(stopping.Check(prompt, 5), FinishReason::kNone);
  EXPECT_EQ(stopping.Check(prompt, 0), FinishReason::kEos);
  EXPECT_EQ(stopping.Check(prompt, 4), FinishReason::kEos);
  EXPECT_EQ(stopping.Check({9, 0, 0, 5}, 5), FinishReason::kMaxLength);
  EXPECT_EQ(stopping.Check({9, 0, 0, 5}, 0), FinishReason::kEos);
}

// 0 is the decoder start.
const std::vector<std::string> kTexts = {"",   "a",    "b",  "ab",     "bc",
                                         "xx", "cabx", "\n", "<|end|>"};

FinishReason Check(std::vector<std::string> stops, std::vector<int> tokens,
                   int next, std::vector<int> prefix = {}) {
  GenerationParams params;
  params.stop_strings = std::move(stops);
  params.forced_prefix = prefix;
  std::vector<int> all = {0};
  all.insert(all.end(), prefix.begin(), prefix.end());
  all.insert(all.end(), tokens.begin(), tokens.end());
  VocabularyTexts texts;
  for (const std::string& text : kTexts) {
    const bool special = absl::StartsWith(text, "<|");
    texts.plain.Add(special ? "" : text);
    texts.special.Add(special ? text : "");
  }
  return Stopping({params, PromptOf(params), 0, &texts}).Check(all, next);
}

TEST(StoppingTest, StopStringMustEndInsideTheLastToken) {
  constexpr FinishReason kStop = FinishReason::kStopSequence;
  constexpr FinishReason kGo = FinishReason::kNone;
  EXPECT_EQ(Check({"ab"}, {}, 3), kStop);   // a token itself
  EXPECT_EQ(Check({"ab"}, {}, 6), kStop);   // inside a token
  EXPECT_EQ(Check({"ab"}, {1}, 2), kStop);  // over two
  EXPECT_EQ(Check({"ab"}, {1}, 4), kStop);  // ends before the token does
  EXPECT_EQ(Check({"ab"}, {3}, 5), kGo);    // was complete before
  EXPECT_EQ(Check({"ab"}, {2}, 1), kGo);
  EXPECT_EQ(Check({"abab"}, {5, 3, 1}, 2), kStop);
  EXPECT_EQ(Check({"bxab"}, {6, 1}, 2), kStop);  // from within a long token
  EXPECT_EQ(Check({"bxab"}, {6, 5, 1}, 2), kGo);
  EXPECT_EQ(Check({"q", "bb"}, {2}, 2), kStop);  // any of them
  EXPECT_EQ(Check({"aa"}, {1, 0}, 1), kStop);    // over a token without text
  EXPECT_EQ(Check({"a"}, {1}, 0), kGo);          // such a token ends nothing
  EXPECT_EQ(Check({"a"}, {}, 99), kGo);          // nor does one without entry
  EXPECT_EQ(Check({"\n"}, {1, 2}, 7), kStop);
}

TEST(StoppingTest, SpecialTokensAreSeenAsTheyAreSpelled) {
  constexpr FinishReason kStop = FinishReason::kStopSequence;
  constexpr FinishReason kGo = FinishReason::kNone;
  EXPECT_EQ(Check({"<|end|>"}, {1}, 8), kStop);
  EXPECT_EQ(Check({"<|end"}, {1}, 8), kStop);     // a part of its spelling
  EXPECT_EQ(Check({"b<|end|>"}, {2}, 8), kStop);  // after text
  EXPECT_EQ(Check({"|>ab"}, {8, 1}, 2), kStop);   // before text
  EXPECT_EQ(Check({"<|end|>b"}, {8, 1}, 2), kGo);
  EXPECT_EQ(Check({"ab"}, {1, 8}, 2), kStop);  // text has no spelling of it
  EXPECT_EQ(Check({"a"}, {1}, 8), kGo);
}

TEST(StoppingTest, PrefixTextIsNotLookedAt) {
  EXPECT_EQ(Check({"ab"}, {}, 2, {1}), FinishReason::kNone);
  EXPECT_EQ(Check({"ab"}, {1}, 2, {5}), FinishReason::kStopSequence);
}

// Against the definition, over all sequences of 4 tokens.
TEST(StoppingTest, EqualsTheDefinition) {
  const std::vector<std::string> stops = {"abc", "xab", "bca"};
  for (int code = 0; code < 8 * 8 * 8 * 8; ++code) {
    const std::vector<int> tokens = {code / 512, code / 64 % 8, code / 8 % 8};
    const int next = code % 8;
    std::string before;
    for (int id : tokens) before += kTexts[id];
    const std::string text = before + kTexts[next];
    bool expected = false;
    for (size_t end = before.size() + 1; end <= text.size(); ++end) {
      for (const std::string& stop : stops) {
        expected |= end >= stop.size() &&
                    text.substr(end - stop.size(), stop.size()) == stop;
      }
    }
    EXPECT_EQ(Check(stops, tokens, next) == FinishReason::kStopSequence,
              expected)
        << text;
  }
}

TEST(StoppingTest, StopStringsCountAfterTheThoughtOnly) {
  const std::vector<std::string> texts = {"", "<", "t>", "x", "</", "y", "xy"};
  const auto check = [&](bool open, std::vector<int> tokens, int next) {
    GenerationParams params;
    params.stop_strings = {"xy", ">x"};
    params.thought = {.begin = "<t>", .end = "</t>", .open = open};
    VocabularyTexts list;
    for (const std::string& text : texts) {
      list.plain.Add(text);
      list.special.Add("");
    }
    Stopping stopping({params, PromptOf(params), 0, &list});
    tokens.insert(tokens.begin(), 0);
    return stopping.Check(tokens, next) == FinishReason::kStopSequence;
  };
  EXPECT_TRUE(check(false, {3}, 5));
  EXPECT_FALSE(check(true, {3}, 5));
  EXPECT_FALSE(check(false, {1, 2}, 6));
  EXPECT_FALSE(check(false, {1, 2, 3}, 5));
  EXPECT_TRUE(check(false, {1, 2, 3, 4, 2}, 6));
  EXPECT_TRUE(check(true, {3, 4, 2, 3}, 5));
  // Not across the end of the thought.
  EXPECT_FALSE(check(true, {3, 4, 2}, 3));
  EXPECT_TRUE(check(false, {5, 1, 2}, 6));
}

TEST(StoppingTest, AThoughtMayBeBetweenSpecialTokens) {
  const std::vector<std::string> texts = {"", "[T]", "[/T]", "xy", "]x", "y"};
  const auto check = [&](std::vector<int> tokens, int next) {
    GenerationParams params;
    params.stop_strings = {"xy", "[/T]x"};
    params.thought = {
        .begin = "[T]", .end = "[/T]", .specials = {{1, "[T]"}, {2, "[/T]"}}};
    VocabularyTexts list;
    for (size_t id = 0; id < texts.size(); ++id) {
      const bool special = id == 1 || id == 2;
      list.plain.Add(special ? "" : texts[id]);
      list.special.Add(special ? texts[id] : "");
    }
    Stopping stopping({params, PromptOf(params), 0, &list});
    tokens.insert(tokens.begin(), 0);
    return stopping.Check(tokens, next) == FinishReason::kStopSequence;
  };
  EXPECT_TRUE(check({}, 3));
  EXPECT_FALSE(check({1}, 3));
  EXPECT_TRUE(check({1, 3, 2}, 3));
  // Not across the end of the thought.
  EXPECT_FALSE(check({1, 4, 2}, 5));
}

}  // namespace
}  // namespace attend
