#include "server/documents/glossary.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Find(const Glossary& glossary,
                              const std::string& text) {
  std::vector<std::string> found;
  for (const Glossary::Match& match : glossary.Find(text)) {
    found.push_back(
        absl::StrCat(text.substr(match.range.begin, match.range.size()), "=",
                     *match.target));
  }
  return found;
}

Glossary Make(const std::vector<std::pair<std::string, std::string>>& terms) {
  Glossary glossary;
  for (const auto& [source, target] : terms) {
    EXPECT_TRUE(glossary.Add(source, target));
  }
  return glossary;
}

TEST(GlossaryTest, FindsWholeWords) {
  const Glossary glossary = Make({{"dog", "Hund"}});
  EXPECT_THAT(Find(glossary, "A dog, dogs, hotdog and (dog)."),
              ElementsAre("dog=Hund", "dog=Hund"));
}

TEST(GlossaryTest, TheLongestTermCounts) {
  const Glossary glossary =
      Make({{"New York", "NY"}, {"New York Times", "NYT"}, {"Times", "T"}});
  EXPECT_THAT(Find(glossary, "New York Times, New  York\nand Times"),
              ElementsAre("New York Times=NYT", "New  York=NY", "Times=T"));
}

TEST(GlossaryTest, ATermWithoutCapitalsIsFoundInAnyCase) {
  const Glossary glossary = Make({{"apple", "Apfel"}, {"US", "USA"}});
  EXPECT_THAT(Find(glossary, "Apple APPLE us US"),
              ElementsAre("Apple=Apfel", "APPLE=Apfel", "US=USA"));
}

TEST(GlossaryTest, AccentsMayBeWrittenInAnyWay) {
  const Glossary composed = Make({{"caf\u00e9", "1"}, {"\u00c5", "2"}});
  EXPECT_THAT(
      Find(composed, "CAFE\u0301 cafe\u0301 A\u030a \u212b cafe"),
      ElementsAre("CAFE\u0301=1", "cafe\u0301=1", "A\u030a=2", "\u212b=2"));
  const Glossary apart = Make({{"cafe\u0301", "1"}, {"do\u00adg", "2"}});
  EXPECT_THAT(Find(apart, "Caf\u00e9 dog"),
              ElementsAre("Caf\u00e9=1", "dog=2"));
}

// Their folded case has other letters.
TEST(GlossaryTest, LettersWithoutCapitalsAreNoCapitals) {
  const Glossary glossary = Make({{"stra\u00dfe", "1"}, {"\u03c3\u03c2", "2"}});
  EXPECT_THAT(Find(glossary, "Stra\u00dfe \u03a3\u03a3"),
              ElementsAre("Stra\u00dfe=1", "\u03a3\u03a3=2"));
}

TEST(GlossaryTest, TheLaterOfEqualTermsCounts) {
  EXPECT_THAT(Find(Make({{"a", "1"}, {"a", "2"}}), "a"), ElementsAre("a=2"));
}

TEST(GlossaryTest, WordsMayBeMarksAndOtherScripts) {
  const Glossary glossary = Make({{"C++", "C"}, {"\u72ac", "Hund"}});
  EXPECT_THAT(Find(glossary, "C++ \u72ac"),
              ElementsAre("C++=C", "\u72ac=Hund"));
}

TEST(GlossaryTest, RefusesTermsOfNoWordOrMany) {
  Glossary glossary;
  EXPECT_FALSE(glossary.Add(" ", "x"));
  EXPECT_FALSE(glossary.Add("a b c d e f g h i j k l m n o p q", "x"));
  EXPECT_THAT(Find(glossary, "a b"), IsEmpty());
}

}  // namespace
}  // namespace attend
