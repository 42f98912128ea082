#include "engine/tokenizer/text/clean_up.h"

#include <gtest/gtest.h>

#include <random>

namespace attend {
namespace {

TEST(CleanUpTest, TakesSpacesBeforePunctuationOff) {
  EXPECT_EQ(CleanUpSpaces("Hello , it 's me . I do n't , we 've ' x '"),
            "Hello, it's me. I don't, we've'x '");
  EXPECT_EQ(CleanUpSpaces("  ."), " .");
}

TEST(CleanUpTest, StripsWhatPythonStrips) {
  EXPECT_EQ(StripSpaces(" \t\xc2\xa0 a b \xe3\x80\x80\n"), "a b");
  EXPECT_EQ(StripSpaces("\xe2\x80\x8b"), "\xe2\x80\x8b");  // zero-width: no
  EXPECT_EQ(StripSpaces("  "), "");
}

TEST(CleanUpTest, PartsCleanedAloneJoinToTheWhole) {
  std::mt19937 random(3);
  constexpr char kLetters[] = "   ..',?nt'smvre a";
  for (int round = 0; round < 5000; ++round) {
    std::string whole;
    std::string joined;
    std::string waiting;
    for (int i = random() % 25; i > 0; --i) {
      const char c = kLetters[random() % (sizeof(kLetters) - 1)];
      whole += c;
      waiting += c;
      const size_t settled = CleanUpBoundary(waiting);
      joined += CleanUpSpaces(waiting.substr(0, settled));
      waiting.erase(0, settled);
    }
    ASSERT_EQ(joined + CleanUpSpaces(waiting), CleanUpSpaces(whole)) << whole;
  }
}

}  // namespace
}  // namespace attend
