#include "server/service/choice_text.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/support/fake_tokenizer.h"

namespace attend {
namespace {

using ::testing::ElementsAre;

// The pieces in which `text` comes, token by token, then the rest.
std::vector<std::string> Pieces(const std::string& text,
                                const std::vector<std::string>& stops,
                                const Thought& thought = {}) {
  const FakeTokenizer tokenizer;
  ChoiceText choice(tokenizer, stops, {}, thought);
  std::vector<std::string> pieces;
  const auto encoding = tokenizer.Encode({.text = text, .add_special = false});
  for (int id : encoding->ids) pieces.push_back(choice.Append(id));
  pieces.push_back(choice.Flush());
  return pieces;
}

TEST(ChoiceTextTest, NeverHalfACharacter) {
  EXPECT_THAT(Pieces("a\xc3\xbc", {}), ElementsAre("a", "", "\xc3\xbc", ""));
}

TEST(ChoiceTextTest, TextEndsBeforeAStopString) {
  EXPECT_THAT(Pieces("abcd", {"bc"}), ElementsAre("a", "", "", "", ""));
}

TEST(ChoiceTextTest, WhatTurnsOutNotToBeAStopStringIsReleased) {
  EXPECT_THAT(Pieces("abxbc", {"bcd"}),
              ElementsAre("a", "", "bx", "", "", "bc"));
}

TEST(ChoiceTextTest, ARepeatedStartIsHeldFromTheRightPlace) {
  EXPECT_THAT(Pieces("aaab", {"aab"}), ElementsAre("", "", "a", "", ""));
}

TEST(ChoiceTextTest, TheFirstOfSeveralStopsCounts) {
  EXPECT_THAT(Pieces("abcd", {"abcde", "bc"}),
              ElementsAre("", "", "a", "", ""));
}

// The text of a result whose end of sequence, "</s>", comes after `text`, and
// that has `more` after it.
std::string TextAround(const std::string& text, const std::string& more,
                       const std::vector<std::string>& stops) {
  const FakeTokenizer tokenizer;
  ChoiceText choice(tokenizer, stops, {});
  std::string all;
  for (const char byte : text) all += choice.Append(byte + 1);
  all += choice.Append(0);
  for (const char byte : more) all += choice.Append(byte + 1);
  return all + choice.Flush();
}

TEST(ChoiceTextTest, SpellingsOfSpecialTokensStopButAreNotReturned) {
  EXPECT_EQ(TextAround("ab", "cd", {}), "abcd");
  EXPECT_EQ(TextAround("ab", "cd", {"</s>"}), "ab");
  EXPECT_EQ(TextAround("ab", "cd", {"b</s>"}), "a");
  EXPECT_EQ(TextAround("ab", "cd", {"b</s>c"}), "a");
  EXPECT_EQ(TextAround("ab", "cd", {"</s>cd"}), "ab");
  EXPECT_EQ(TextAround("ab", "cd", {"s>cd"}), "ab");
  EXPECT_EQ(TextAround("ab", "cd", {"bc"}), "a");  // text has no spelling
  EXPECT_EQ(TextAround("ab", "cd", {"b</s>d", "</s>x"}), "abcd");
}

TEST(ChoiceTextTest, ManySpecialTokensAreNotKept) {
  const FakeTokenizer tokenizer;
  const std::vector<std::string> stops = {"</s>\n"};
  ChoiceText choice(tokenizer, stops, {});
  std::string all;
  for (int i = 0; i < 200000; ++i) all += choice.Append(0);
  EXPECT_EQ(all + choice.Append('a' + 1) + choice.Flush(), "a");
}

TEST(ChoiceTextTest, AThoughtHasNoStopStrings) {
  const Thought open = {.begin = "<", .end = "/>", .open = true};
  EXPECT_THAT(Pieces("ab/>ab", {"b"}, open),
              ElementsAre("a", "b", "/", ">", "a", "", ""));
  const Thought may = {.begin = "<t", .end = "/>", .open = false};
  EXPECT_THAT(Pieces("<tb/>b", {"b"}, may),
              ElementsAre("", "<t", "b", "/", ">", "", ""));
  // What turns out to be no thought is looked through.
  EXPECT_THAT(Pieces("<xb", {"x"}, may), ElementsAre("", "<", "", ""));
  EXPECT_THAT(Pieces("<", {"x"}, may), ElementsAre("", "<"));
  EXPECT_THAT(Pieces("<", {"<"}, may), ElementsAre("", ""));
}

}  // namespace
}  // namespace attend
