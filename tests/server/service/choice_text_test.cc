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
                                const std::vector<std::string>& stops) {
  const FakeTokenizer tokenizer;
  ChoiceText choice(tokenizer, stops, {});
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

}  // namespace
}  // namespace attend
