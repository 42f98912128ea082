#include "server/documents/markup_lexer.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/documents/character_references.h"

namespace attend {
namespace {

using ::testing::ElementsAre;

// Each token as its kind's letter and its bytes; "!" if it is not translated.
std::vector<std::string> Lex(const std::string& text, MarkupKind kind) {
  std::vector<std::string> tokens;
  MarkupLexer lexer(text, kind);
  std::string all;
  for (MarkupToken token; lexer.Next(token);) {
    const std::string bytes = text.substr(token.begin, token.end - token.begin);
    tokens.push_back(absl::StrCat(
        std::string(1, "toc/x"[token.kind]),
        token.translate == MarkupToken::kNo ? "!" : "", " ", bytes));
    all += bytes;
  }
  EXPECT_EQ(all, text);
  return tokens;
}

std::vector<std::string> Html(const std::string& text) {
  return Lex(text, MarkupKind::kHtml);
}
std::vector<std::string> Xml(const std::string& text) {
  return Lex(text, MarkupKind::kXml);
}

TEST(MarkupLexerTest, TagsAndTexts) {
  EXPECT_THAT(Html("a<B c='>'>d</b ><br/><img src=x>e"),
              ElementsAre("t a", "o <B c='>'>", "t d", "c </b >", "/ <br/>",
                          "/ <img src=x>", "t e"));
  EXPECT_THAT(
      Xml("<a x=\"/>\"><b/></a><br></br>"),
      ElementsAre("o <a x=\"/>\">", "/ <b/>", "c </a>", "o <br>", "c </br>"));
}

TEST(MarkupLexerTest, WhatIsNoTagIsText) {
  EXPECT_THAT(Html("1 < 2 <3 <"),
              ElementsAre("t 1 ", "t < 2 ", "t <3 ", "t <"));
  EXPECT_THAT(Html("a<b"), ElementsAre("t a", "x <b"));
}

TEST(MarkupLexerTest, OtherMarkup) {
  EXPECT_THAT(Html("<!doctype html><!--<b>-->a<?x>b<!-- "),
              ElementsAre("x <!doctype html>", "x <!--<b>-->", "t a", "x <?x>",
                          "t b", "x <!-- "));
  EXPECT_THAT(Xml("<?xml v='>'?><!DOCTYPE a [<!ENTITY b '>]'><!-- ]> -->]>"
                  "<![CDATA[<a>]]>b"),
              ElementsAre("x <?xml v='>'?>",
                          "x <!DOCTYPE a [<!ENTITY b '>]'><!-- ]> -->]>",
                          "x <![CDATA[<a>]]>", "t b"));
}

TEST(MarkupLexerTest, ScriptsAreNotMarkedUp) {
  EXPECT_THAT(Html("<script>a<b></Script>c"),
              ElementsAre("o <script>", "x a<b>", "c </Script>", "t c"));
  EXPECT_THAT(Html("<style></style>"), ElementsAre("o <style>", "c </style>"));
  EXPECT_THAT(Html("<script>a"), ElementsAre("o <script>", "x a"));
  EXPECT_THAT(Xml("<script>a<b/></script>"),
              ElementsAre("o <script>", "t a", "/ <b/>", "c </script>"));
}

TEST(MarkupLexerTest, WhatIsNotToBeTranslated) {
  EXPECT_THAT(Html("<p translate=no><p TRANSLATE='No'><p class='a notranslate'>"
                   "<p translate=yes><p class=notranslated>"),
              ElementsAre("o! <p translate=no>", "o! <p TRANSLATE='No'>",
                          "o! <p class='a notranslate'>", "o <p translate=yes>",
                          "o <p class=notranslated>"));
  EXPECT_THAT(Xml("<p its:translate=\"no\">"),
              ElementsAre("o! <p its:translate=\"no\">"));
}

TEST(CharacterReferencesTest, AreReadAsTheirFormatSays) {
  const auto read = [](const char* text, MarkupKind kind) {
    const CharacterReference found = ReadReference(text, kind);
    return absl::StrCat(found.length, found.character);
  };
  EXPECT_EQ(read("&amp;x", MarkupKind::kHtml), "5&");
  EXPECT_EQ(read("&auml;", MarkupKind::kHtml), "6\u00e4");
  EXPECT_EQ(read("&Auml;", MarkupKind::kHtml), "6\u00c4");
  EXPECT_EQ(read("&auml;", MarkupKind::kXml), "6");  // the document's own
  EXPECT_EQ(read("&apos;", MarkupKind::kXml), "6'");
  EXPECT_EQ(read("&#228;", MarkupKind::kXml), "6\u00e4");
  EXPECT_EQ(read("&#x1F600;", MarkupKind::kXml), "9\U0001f600");
  EXPECT_EQ(read("&#0;", MarkupKind::kXml), "4");
  EXPECT_EQ(read("&#xD800;", MarkupKind::kXml), "8");
  EXPECT_EQ(read("&#x110000;", MarkupKind::kXml), "10");
  EXPECT_EQ(read("&#99999999999999;", MarkupKind::kXml), "17");
  EXPECT_EQ(read("&NotEqualTilde;", MarkupKind::kHtml), "15\u2242\u0338");
  EXPECT_EQ(read("&ampx", MarkupKind::kHtml), "4&");
  EXPECT_EQ(read("&notin x", MarkupKind::kHtml), "4\u00ac");
  EXPECT_EQ(read("&notin;", MarkupKind::kHtml), "7\u2209");
  EXPECT_EQ(read("&amp x", MarkupKind::kXml), "4&");
  EXPECT_EQ(read("&ampx", MarkupKind::kXml), "0");
  EXPECT_EQ(read("&#228 x", MarkupKind::kHtml), "5\u00e4");
  EXPECT_EQ(read("&#xe4g", MarkupKind::kHtml), "5\u00e4");
  EXPECT_EQ(read("&#x92;", MarkupKind::kHtml), "6\u2019");
  EXPECT_EQ(read("&#0", MarkupKind::kHtml), "0");
  EXPECT_EQ(read("&#;", MarkupKind::kHtml), "0");
  EXPECT_EQ(read("& b;", MarkupKind::kHtml), "0");
  EXPECT_EQ(read("&b", MarkupKind::kHtml), "0");
  EXPECT_EQ(read("&;", MarkupKind::kHtml), "0");
}

}  // namespace
}  // namespace attend
