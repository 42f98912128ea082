#include "server/documents/long_words.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/documents/document.h"
#include "tests/server/documents/fake_translation.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Repeated(const std::string& part, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += part;
  return text;
}

std::vector<std::string> Find(const std::string& text) {
  std::vector<std::string> found;
  for (const TextRange range : FindLongWords(text)) {
    found.push_back(text.substr(range.begin, range.size()));
  }
  return found;
}

// No word of a language, in the middle of a sentence.
const std::string kData[] = {
    std::string(300, 'x'),
    std::string(200 << 10, 'x'),
    Repeated("\u00e4", 1000),
    Repeated("\u0436", 1000),
    Repeated("iVBORw0KGgo/+AAAA////", 5000) + "==",
    Repeated("eyJhbGciOiJ_-9", 300) + "." + Repeated("SflKxwRJ", 300),
    Repeated("0123456789abcdef", 512),
    Repeated("=E4=BD", 600),
    "data:image/png;base64," + Repeated("AbC/", 400) + "=",
    "https://example.com/?q=" + Repeated("a%20b&c=", 400),
    Repeated("f(a,b){c;}", 5000),
    Repeated("\u0436,", 9000) + "\u0436",
};

TEST(LongWordsTest, DataIsFoundBetweenWords) {
  for (const std::string& data : kData) {
    SCOPED_TRACE(data.substr(0, 40));
    EXPECT_THAT(Find(data), ElementsAre(data));
    EXPECT_THAT(
        Find(absl::StrCat("See ", data, ".\nAnd \u201c", data, "\u201d, too")),
        ElementsAre(data, data));
  }
}

TEST(LongWordsTest, LanguageIsNotFound) {
  for (const std::string& text :
       {Repeated("Donaudampfschifffahrt ", 9000), std::string(256, 'x'),
        Repeated("name,Name;", 4000), Repeated("\u72d7", 9000),
        Repeated("\u0e2b\u0e21\u0e32", 9000), Repeated("\uac1c\ub294", 9000),
        Repeated("\ua9b2\ua9ad", 9000),
        Repeated("\u0f56\u0f7c\u0f51\u0f0b", 9000),
        Repeated("\u12a0\u121b\u1361", 9000),
        "Chapter" + std::string(1000, '.') + "12",
        "Name:" + std::string(1000, '_'), Repeated("one\u2014two", 4000)}) {
    EXPECT_THAT(Find(text), IsEmpty()) << text.substr(0, 40);
  }
}

TEST(LongWordsTest, SentencesGoAroundData) {
  for (const std::string& data : kData) {
    SCOPED_TRACE(data.substr(0, 40));
    const Document document =
        Read(absl::StrCat("One dog ", data, " runs. Two\n", data),
             DocumentFormat::kText, Glossary(), "en");
    ASSERT_EQ(document.sentences.size(), 2);
    EXPECT_EQ(document.sentences[0].text, "One dog Tom runs.");
    EXPECT_EQ(TranslateFake(document, 0),
              absl::StrCat(". RUNS ", data, " DOG ONE TWO\n", data));
  }
}

// References, hidden characters and tags may be in data; tags divide it.
TEST(LongWordsTest, DataOfMarkupIsKeptByteForByte) {
  const std::string part = Repeated("&#65;\u00adB", 3000);
  const Document document =
      Read(absl::StrCat("<p>A dog <b>", part, "</b>", part, " runs&amp;"),
           DocumentFormat::kHtml);
  ASSERT_EQ(document.sentences.size(), 1);
  EXPECT_EQ(document.sentences[0].terms.size(), 2);
  const std::string translated = TranslateFake(document, 0);
  EXPECT_THAT(translated, HasSubstr(absl::StrCat("<b>", part, "</b>")));
  EXPECT_NE(translated.rfind(part), translated.find(part));
}

}  // namespace
}  // namespace attend
