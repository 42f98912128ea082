#include "server/documents/sentence_splitter.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::vector<std::string> Split(const std::string& text,
                               const std::string& language) {
  std::vector<std::string> sentences;
  for (const TextRange& range : SplitSentences(text, language)) {
    sentences.push_back(text.substr(range.begin, range.size()));
  }
  return sentences;
}

// Sentences that stay whole wherever they stand.
struct Language {
  const char* code;
  std::vector<std::string> sentences;
};

class SplitterTest : public testing::TestWithParam<Language> {};

TEST_P(SplitterTest, FindsTheSentencesAgain) {
  const Language& language = GetParam();
  for (const char* between : {" ", "  ", "\n", "\n\n", "\r\n\t"}) {
    std::string text = "\n ";
    for (const std::string& sentence : language.sentences) {
      absl::StrAppend(&text, sentence, between);
    }
    EXPECT_THAT(Split(text, language.code),
                ElementsAreArray(language.sentences));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Languages, SplitterTest,
    testing::Values(
        Language{"en",
                 {"Mr. Smith went to Washington.",
                  "He met Dr. Jones at 5 p.m. on Monday!",
                  "\"Stop!\" she said.",
                  "Is it far?",
                  "It is 3.5 km, i.e. not far.",
                  "(Yes.)",
                  "The U.S. Navy paid approx. 5 pounds.",
                  "John F. Kennedy spoke.",
                  "He came from the U.S.",
                  "The dog is at Acme Corp.",
                  "He is OK.",
                  "They came at 6 p.m.",
                  "This is Joe.",
                  "Let us go to the U.S.",
                  "So do I.",
                  "He reached his goal.",
                  "2 girls sit.",
                  "They run.",
                  "# 8 jumps.",
                  "dogs bark.",
                  "See https://example.com/a?b=c.d!e for more.",
                  "No.",
                  "Wait...",
                  "What?!",
                  "Items 1. and 2. are here."}},
        Language{"eng_Latn", {"Mr. Smith left.", "See Fig. 3."}},
        Language{"en_XX", {"Mr. Smith left.", "See Fig. 3."}},
        Language{
            "de",
            {"Das ist z.B. gut.", "Das ist z. B. auch gut.",
             "Herr Dr. Meier kommt ca. 5 Uhr.", "Am 3. Oktober war es kalt.",
             "Nr. 5 lebt.", "Das ist ein Test.", "Hunde, Katzen usw.",
             "Sie kommen.", "\u201eHalt!\u201c, rief er."}},
        Language{"fr", {"M. Dupont est l\u00e0.", "O\u00f9 est-il ?", "Ici !"}},
        Language{"es",
                 {"\u00bfD\u00f3nde est\u00e1 el Sr. Ruiz?", "Aqu\u00ed."}},
        Language{"ru",
                 {"\u042d\u0442\u043e \u0434\u043e\u043c.",
                  "\u0413\u0434\u0435 \u043e\u043d?"}},
        // The Greek question mark is a semicolon.
        Language{"el",
                 {"\u03a0\u03bf\u03cd \u03b5\u03af\u03bd\u03b1\u03b9;",
                  "\u0395\u03b4\u03ce."}},
        Language{"ja",
                 {"\u72ac\u304c\u3044\u307e\u3059\u3002",
                  "\u732b\u3082\u3044\u307e\u3059\u3002"}},
        Language{"ar",
                 {"\u0647\u0644 \u0623\u0646\u062a \u0647\u0646\u0627\u061f",
                  "\u0646\u0639\u0645."}},
        Language{"", {"A dog.", "A cat?", "A cow!"}}),
    [](const auto& language) {
      const std::string code = language.param.code;
      return code.empty() ? "None" : code;
    });

TEST(SentenceSplitterTest, ChineseNeedsNoSpaces) {
  EXPECT_THAT(
      Split("\u6211\u559c\u6b22\u72d7\u3002\u4f60\u5462\uff1f", "zh"),
      ElementsAre("\u6211\u559c\u6b22\u72d7\u3002", "\u4f60\u5462\uff1f"));
}

TEST(SentenceSplitterTest, AbbreviationsAreOfTheirLanguage) {
  EXPECT_THAT(Split("Das ist z.B. Hunde.", "de"),
              ElementsAre("Das ist z.B. Hunde."));
  EXPECT_THAT(Split("Das ist z.B. Hunde.", "nl"),
              ElementsAre("Das ist z.B.", "Hunde."));
}

TEST(SentenceSplitterTest, ALineBreakEndsWhatAnAbbreviationWouldNot) {
  EXPECT_THAT(Split("Mr.\nSmith", "en"), ElementsAre("Mr.", "Smith"));
}

TEST(SentenceSplitterTest, NothingIsASentence) {
  EXPECT_THAT(Split("", "en"), ElementsAre());
  EXPECT_THAT(Split(" \n\t\u00a0", "en"), ElementsAre());
}

TEST(SentenceSplitterTest, BytesThatAreNoCharactersAreWords) {
  EXPECT_THAT(Split("a\xff. \xc3", "en"), ElementsAre("a\xff.", "\xc3"));
}

}  // namespace
}  // namespace attend
