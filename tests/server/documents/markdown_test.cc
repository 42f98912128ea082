#include <gmock/gmock.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "server/documents/markdown_escapes.h"
#include "server/documents/markdown_reader.h"
#include "tests/server/documents/fake_translation.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

std::string Escaped(const std::string& text, const MarkdownPlace& place) {
  std::string escaped;
  AppendMarkdown(text, place, escaped);
  return escaped;
}

TEST(MarkdownEscapesTest, WhatWouldBeMarkupHasABackslash) {
  EXPECT_EQ(Escaped("a *b* _c_ `d` ~~e~~ <f> &amp; \\*", {}),
            "a \\*b\\* \\_c\\_ \\`d\\` \\~\\~e\\~\\~ \\<f> \\&amp; \\\\\\*");
  EXPECT_EQ(Escaped("[a](b) ![c]", {}), "\\[a\\](b) !\\[c\\]");
  EXPECT_EQ(Escaped("a]", {}), "a\\]");
  EXPECT_EQ(Escaped("Yes!", {.after = '['}), "Yes\\!");
  EXPECT_EQ(Escaped("a\nb", {}), "a b");
  EXPECT_EQ(Escaped("a|b", {.is_cell = true}), "a\\|b");
}

TEST(MarkdownEscapesTest, WhatWouldNotBeMarkupStaysAsItIs) {
  for (const char* text :
       {"2 * 3", "snake_case_name", "a < b > c", "AT&T", "[1] of 2", "~5 km",
        "a|b", "C:\\dir x", "1. May", "# 5", "- a", "What? No!"}) {
    EXPECT_EQ(Escaped(text, {}), text);
  }
}

TEST(MarkdownEscapesTest, MarksOfBlocksAreAtTheBeginOfALine) {
  const MarkdownPlace line = {.begins_line = true};
  EXPECT_EQ(Escaped("1. May", line), "1\\. May");
  EXPECT_EQ(Escaped("12) a", line), "12\\) a");
  EXPECT_EQ(Escaped("- a", line), "\\- a");
  EXPECT_EQ(Escaped("* a", line), "\\* a");
  EXPECT_EQ(Escaped("> a", line), "\\> a");
  EXPECT_EQ(Escaped("## a", line), "\\## a");
  EXPECT_EQ(Escaped("[x] a", line), "\\[x] a");
  EXPECT_EQ(Escaped("#5 1.5 -3 +x", line), "#5 1.5 -3 +x");
  EXPECT_TRUE(BeginsMarkdownLine("> - 1. [ ] a", 11));
  EXPECT_FALSE(BeginsMarkdownLine("> a b", 4));
}

absl::Status Open(const std::string& document) {
  return MarkdownReader::Open(document).status();
}

// md4c reads a title as often as its link is used, and later versions than
// 0.5.2 stop that themselves.
TEST(MarkdownReaderTest, DocumentsThatTakeLongAreRefused) {
  std::string document =
      absl::StrCat("[a]: /u \"", std::string(500000, 't'), "\"\n\n");
  for (int i = 0; i < 100000; ++i) document += "[a]";
  const absl::Status repeated = Open(document);
  if (!repeated.ok()) {
    EXPECT_EQ(repeated.message(),
              "destinations and titles of links have more than 67108864 bytes, "
              "each counted as often as it is used");
  }
  std::string marks;
  for (int i = 0; i < kMostMarks; ++i) marks += "*a* ";
  EXPECT_EQ(Open(marks).message(),
            "has more than 524288 blocks, marks and cells of tables");
}

TEST(MarkdownReaderTest, DeepNestingIsRead) {
  EXPECT_TRUE(Open(std::string(100000, '>') + "a").ok());
  EXPECT_TRUE(Open(std::string(100000, '*') + "a").ok());
  EXPECT_TRUE(Open(std::string(100000, '[') + "a").ok());
  EXPECT_TRUE(Open(std::string(100000, '`') + "a").ok());
}

// Marks stay with their words wherever these go.
TEST(MarkdownReaderTest, MarksGoWithTheirWords) {
  const std::string source =
      "One **two** three *four* `five` [six](u) seven ***eight***.";
  const Document document =
      Read(source, DocumentFormat::kMarkdown, Glossary(), "en");
  for (uint32_t seed = 1; seed < 50; ++seed) {
    const std::string translated = TranslateFake(document, seed);
    for (const char* kept :
         {"**TWO**", "*FOUR*", "`five`", "[SIX](u)", "***EIGHT***"}) {
      EXPECT_THAT(translated, HasSubstr(kept));
    }
  }
}

}  // namespace
}  // namespace attend
