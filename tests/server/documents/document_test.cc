#include "server/documents/document.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/documents/place_tags.h"
#include "server/documents/run_reader.h"
#include "tests/server/documents/fake_translation.h"
#include "tests/server/documents/random_markup.h"
#include "tests/server/documents/read_document.h"
#include "tests/support/field_rows.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr DocumentFormat kText = DocumentFormat::kText;
constexpr DocumentFormat kHtml = DocumentFormat::kHtml;
constexpr DocumentFormat kXml = DocumentFormat::kXml;

std::vector<std::string> TextsOf(const std::string& source,
                                 DocumentFormat format) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : Read(source, format).sentences) {
    texts.push_back(sentence.text);
  }
  return texts;
}

std::string Fake(const std::string& source, DocumentFormat format,
                 const Glossary& glossary = Glossary()) {
  return TranslateFake(Read(source, format, glossary), 0);
}

// Whether a text does not go on with a character: by the marks that the words
// of the test have.
bool IsCharacterBegin(absl::string_view text) {
  constexpr absl::string_view kGoOn[] = {
      "\u0e35", "\u0e48", "\u0ebb", "\u17d2", "\u17c2", "\u103c", "\u103a",
      "\u0301", "\u0323", "\u0302", "\u094d", "\u093f", "\u200d"};
  return std::none_of(
      std::begin(kGoOn), std::end(kGoOn),
      [&](absl::string_view mark) { return absl::StartsWith(text, mark); });
}

DocumentFormat FormatOf(const nlohmann::json& row) {
  const std::string name = row["format"];
  if (name == "text") return kText;
  if (name == "markdown") return DocumentFormat::kMarkdown;
  return name == "html" ? kHtml : kXml;
}

TEST(DocumentTest, InputsFromTheField) {
  for (const nlohmann::json& row : FieldRows("documents")) {
    SCOPED_TRACE(row["case"]);
    const Document document = Read(row["source"], FormatOf(row), Glossary(),
                                   row["language"].get<std::string>());
    std::vector<std::string> texts;
    for (const Sentence& sentence : document.sentences) {
      texts.push_back(sentence.text);
      for (const Sentence& s : sentence.inner) texts.push_back(s.text);
    }
    EXPECT_EQ(nlohmann::json(texts), row["read"]);
    if (row.contains("written")) {
      EXPECT_EQ(nlohmann::json(TranslateFake(document, 0)), row["written"]);
    }
  }
}

// No part begins with a mark that belongs to the letter before it, and nothing
// is lost. Text of Thai, Lao, Khmer and Burmese has no spaces; a family is one
// picture of seven code points.
TEST(DocumentTest, LongTextsAreCutBetweenCharactersAsReadersSeeThem) {
  for (const std::string word :
       {"\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48", "\u0e99\u0ebb\u0e81",
        "\u1781\u17d2\u1798\u17c2\u179a", "\u1019\u103c\u1014\u103a",
        "e\u0301e\u0323\u0302", "\u0915\u094d\u0937\u093f",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
        "\U0001f1e9\U0001f1ea"}) {
    std::string text;
    // So that no cut is at a whole word by chance.
    while (text.size() < 5000) absl::StrAppend(&text, word, "\u0e01");
    std::string joined;
    int parts = 0;
    for (const std::string& part : TextsOf(text, kText)) {
      EXPECT_LE(part.size(), 200);
      joined += part;
      ++parts;
      if (joined.size() == text.size()) break;
      const std::string rest = text.substr(joined.size());
      EXPECT_TRUE(IsCharacterBegin(rest)) << word << " " << rest.substr(0, 20);
    }
    EXPECT_EQ(joined, text);
    EXPECT_GT(parts, 20);
  }
}

TEST(DocumentTest, WhatIsBetweenSentencesStays) {
  EXPECT_EQ(Fake("\n a b.\t C d!  \n\n- e f\n1. G h\r\n***\n42\n", kText),
            "\n . B A\t ! D C  \n\n- F E\n1. H G\r\n***\n42\n");
  EXPECT_EQ(Fake("", kText), "");
  EXPECT_EQ(Fake("a", kText), "A");
}

TEST(DocumentTest, WhiteSpaceInASentenceIsOneSpaceForTheModel) {
  EXPECT_THAT(TextsOf("a \t b\u00a0 c", kText), ElementsAre("a b c"));
  EXPECT_THAT(TextsOf("<p>a\n   b</p>", kHtml), ElementsAre("a b"));
}

TEST(DocumentTest, WhatIsTooLongIsCutAtClausesThenWordsThenCharacters) {
  const std::string words = "one two three four five six seven eight";
  std::string clauses = words;
  for (int i = 0; i < 6; ++i) absl::StrAppend(&clauses, ", ", words);
  for (const std::string& part : TextsOf(clauses, kText)) {
    EXPECT_LE(part.size(), 200);
    EXPECT_EQ(part.substr(0, 7), "one two");
  }
  std::string spaced;
  for (int i = 0; i < 30; ++i) absl::StrAppend(&spaced, words, " ");
  for (const std::string& part : TextsOf(spaced, kText)) {
    EXPECT_LE(part.size(), 200);
    for (absl::string_view word : absl::StrSplit(part, ' ')) {
      EXPECT_THAT(words, HasSubstr(word));
    }
  }
  const std::string word =
      std::string(120, 'x') + "\u00e4" + std::string(121, 'y');
  std::string joined;
  for (const std::string& part : TextsOf(word, kText)) {
    EXPECT_LE(part.size(), 200);
    joined += part;
  }
  EXPECT_EQ(joined, word);
}

// Each literal is in one part, at whatever place a sentence would be cut.
TEST(DocumentTest, WhatIsTooLongIsNotCutInsideOfALiteral) {
  for (const std::string literal :
       {"{n, plural, one {# file; one} other {# files, all}}", "{{ a | b: c }}",
        "https://example.com/a", "5 km"}) {
    for (int before = 60; before < 100; ++before) {
      std::string text(static_cast<size_t>(before), 'x');
      absl::StrAppend(&text, " ", literal, " ", std::string(200, 'y'));
      EXPECT_THAT(Fake(text, kText), HasSubstr(literal)) << before;
    }
  }
}

// What a model reads for a literal is measured, not the literal.
TEST(DocumentTest, LongLiteralsDoNotCutTheirSentence) {
  const std::string url = "https://example.com/" + std::string(150, 'a');
  EXPECT_THAT(
      TextsOf(absl::StrCat("See ", url, " and ", url, "?b now."), kText),
      ElementsAre("See Tom and Maria now."));
}

// Sentences are found in blocks of 64 to 256 KiB.
TEST(DocumentTest, SentencesOfLongTextsAreWhole) {
  const std::string sentence = "One dog runs in the park.";
  for (const char* between : {" ", "\n"}) {
    std::string text;
    for (int i = 0; i < 40000; ++i) absl::StrAppend(&text, sentence, between);
    const Glossary none;
    const auto document = ReadDocument(text, {.language = "en",
                                              .measure = MeasureBytes(200),
                                              .max_sentences = 50000,
                                              .glossary = &none});
    ASSERT_TRUE(document.ok()) << document.status();
    EXPECT_EQ(document->sentences.size(), 40000);
    for (const Sentence& found : document->sentences) {
      ASSERT_EQ(found.text, sentence);
    }
  }
}

// Of a text without ends of sentences no byte is lost.
TEST(DocumentTest, LongTextsAreReadToTheEnd) {
  const Glossary none;
  for (const std::string word : {"dog ", "\u72d7", "\u0e01\u0e02\u0e03"}) {
    std::string text;
    for (int i = 0; i < 200000; ++i) text += word;
    const auto document = ReadDocument(text, {.measure = MeasureBytes(200),
                                              .max_sentences = 50000,
                                              .glossary = &none});
    ASSERT_TRUE(document.ok()) << document.status();
    std::string joined;
    for (const Sentence& found : document->sentences) {
      EXPECT_LE(found.text.size(), 200);
      absl::StrAppend(&joined, found.text, word.back() == ' ' ? " " : "");
    }
    EXPECT_TRUE(joined == text);
  }
}

// Much markup with little text takes long, too.
TEST(DocumentTest, MarkupIsReadInTurns) {
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "<p>. ";
  const Glossary none;
  const auto reader = DocumentReader::Open(text, {.format = kHtml,
                                                  .measure = MeasureBytes(200),
                                                  .max_sentences = 10,
                                                  .glossary = &none});
  ASSERT_TRUE(reader.ok()) << reader.status();
  int turns = 1;
  while (!*(*reader)->Read(16 << 10)) ++turns;
  EXPECT_GT(turns, 50);
}

TEST(DocumentTest, TooManySentencesAreAnError) {
  std::string text;
  for (int i = 0; i < 1001; ++i) text += "a. B\n";
  const Glossary none;
  const auto document = ReadDocument(
      text,
      {.measure = MeasureBytes(100), .max_sentences = 1000, .glossary = &none});
  EXPECT_EQ(document.status(),
            absl::OutOfRangeError("has more than 1000 sentences"));
}

TEST(DocumentTest, TooMuchMarkupIsAnError) {
  const Glossary none;
  for (const char* part : {"<b>", "<!---->", "&own;", "a<i></i>"}) {
    std::string source;
    while (source.size() < 8 * (size_t{kMostMarkup} + 1)) source += part;
    const auto document =
        ReadDocument(source + "a", {.format = kXml,
                                    .measure = MeasureBytes(100),
                                    .max_sentences = 1000,
                                    .glossary = &none});
    EXPECT_EQ(document.status(),
              absl::InvalidArgumentError("has more than 262144 tags, comments "
                                         "and objects"));
  }
}

TEST(DocumentTest, TagsGoWithTheirWords) {
  EXPECT_EQ(Fake("<p>one <b>two</b> three</p>", kHtml),
            "<p>THREE <b>TWO</b> ONE</p>");
  EXPECT_EQ(Fake("<p><b>one</b> two <i>three</i></p>", kHtml),
            "<p><i>THREE</i> TWO <b>ONE</b></p>");
  EXPECT_EQ(Fake("<p>a <b>b <i>c d</i></b> e</p>", kHtml),
            "<p>E <b><i>D C</i> B</b> A</p>");
  EXPECT_EQ(Fake("<p>a <b>un</b>happy b</p>", kHtml),
            "<p>B <b>UNHAPPY</b> A</p>");
}

TEST(DocumentTest, AnElementAroundAllIsAroundAll) {
  EXPECT_EQ(Fake("<p> <b>a b c</b> </p>", kHtml), "<p> <b>C B A</b> </p>");
  EXPECT_EQ(Fake("<p><b><i>a b</i> c</b>.</p>", kHtml),
            "<p>. <b>C <i>B A</i></b></p>");
}

TEST(DocumentTest, AnElementMayGoOnOverSentences) {
  const std::string translated = Fake("<p>A b <i>c d. E</i> f.</p>", kHtml);
  EXPECT_EQ(translated, "<p><i>. D C B A . F E</i></p>");
  const Markup parts = Strip(translated);
  EXPECT_TRUE(IsWellFormed(parts.tags));
  EXPECT_THAT(parts.tags, ElementsAre("<p>", "<i>", "</i>", "</p>"));
}

TEST(DocumentTest, TagsWithoutContentStandBetweenTheSameWords) {
  EXPECT_EQ(Fake("<p>a <img src='x'/> b</p>", kHtml),
            "<p><img src='x'/> B A</p>");
  EXPECT_EQ(Fake("<p>a b<img src='x'/> c</p>", kHtml),
            "<p>C B A<img src='x'/></p>");
}

TEST(DocumentTest, BlocksEndSentences) {
  EXPECT_THAT(TextsOf("<div>a<p>b<br>c</p><ul><li>d<li>e</ul>f</div>", kHtml),
              ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_THAT(TextsOf("<title>a</title><td>b</td><td>c</td>", kHtml),
              ElementsAre("a", "b", "c"));
}

TEST(DocumentTest, SomeElementsAreNotTranslated) {
  for (const char* whole :
       {"<pre>a b</pre>", "<script>a b</script>", "<style>a</style>",
        "<p translate=\"no\">a <b>b</b></p>", "<textarea>a</textarea>",
        "<!-- a b -->", "<svg><text>a</text></svg>", "<code>a b</code>",
        "<p title='42'></p>", "<span class=\"notranslate\">a</span>"}) {
    EXPECT_EQ(Fake(whole, kHtml), whole);
  }
  EXPECT_EQ(Fake("<p>a <code>x <b>y</b></code> b</p>", kHtml),
            "<p>B <code>x <b>y</b></code> A</p>");
  EXPECT_EQ(Fake("<p>a <svg/> b</p>", kHtml), "<p><svg/> B A</p>");
  EXPECT_EQ(Fake("<p>a <b translate=no>x</b> b</p>", kHtml),
            "<p>B <b translate=no>x</b> A</p>");
}

TEST(DocumentTest, InXmlElementsBesideTextAreInsideOfALine) {
  EXPECT_THAT(
      TextsOf("<doc><t>a b</t><t>c <x>d <y>e</y></x> f</t> <t>g</t></doc>",
              kXml),
      ElementsAre("a b", "c d e f", "g"));
  EXPECT_EQ(Fake("<a>x <b its:translate='no'>y</b> z<![CDATA[w v]]></a>", kXml),
            "<a>Z <b its:translate='no'>y</b> X<![CDATA[w v]]></a>");
}

TEST(DocumentTest, ReferencesAreReadAndWritten) {
  EXPECT_THAT(TextsOf("a &amp; b &lt;c&gt; &auml;", kHtml),
              ElementsAre("a & b <c> \u00e4"));
  EXPECT_EQ(Fake("<p>a &lt; b &amp; c</p>", kHtml), "<p>C &amp; B &lt; A</p>");
  EXPECT_EQ(Fake("<p>a &own; b</p>", kXml), "<p>B &own; A</p>");
  EXPECT_EQ(Fake("a &lt; b &x; c <b", kText), "B &lt; C ; X & B &lt; A");
}

TEST(DocumentTest, LiteralsStay) {
  EXPECT_EQ(Fake("a {name} b", kText), "B {name} A");
  EXPECT_EQ(Fake("a https://x.org/?a=b&c b 5 km", kText),
            "5 km B https://x.org/?a=b&c A");
  EXPECT_EQ(Fake("<p>a https://x.org/?a=b&amp;c b</p>", kHtml),
            "<p>B https://x.org/?a=b&amp;c A</p>");
  EXPECT_THAT(TextsOf("https://x.org {name} 5 km", kText), IsEmpty());
}

TEST(DocumentTest, GlossaryTermsAreForced) {
  Glossary glossary;
  glossary.Add("red dog", "R&D");
  EXPECT_EQ(Fake("a red dog b", kText, glossary), "B R&D A");
  EXPECT_EQ(Fake("<p>a <b>red</b> dog b</p>", kHtml, glossary),
            "<p>B <b>R&amp;D</b> A</p>");
  EXPECT_EQ(Fake("<p>Red dog</p>", kHtml, glossary), "<p>R&amp;D</p>");
}

TEST(DocumentTest, ATermTakesNoFullStop) {
  Glossary glossary;
  glossary.Add("dog", "X");
  const Document document = Read("A dog.", kText, glossary);
  // Most of the full stop was made from "dog".
  const TranslatedText translated = {
      .text = "Ein Hund.",
      .source_tokens = {{0, 1}, {2, 5}, {5, 6}},
      .target_tokens = {{0, 3}, {3, 8}, {8, 9}},
      .weights = {0.9f, 0.1f, 0, 0.6f, 0.4f, 0, 0, 0.9f, 0.1f}};
  EXPECT_EQ(RenderSentence(document, document.sentences[0], translated),
            "Ein X.");
}

// Well-formed in, well-formed out: every tag once, elements nested, and every
// word in capitals.
TEST(DocumentTest, RandomNestingsStayWellFormedAndComplete) {
  const auto words = [](const std::string& text) {
    std::vector<std::string> all;
    for (const Word& word : Words(absl::AsciiStrToUpper(text))) {
      all.push_back(absl::AsciiStrToUpper(
          text.substr(word.range.begin, word.range.size())));
    }
    std::string letters = absl::AsciiStrToUpper(text);
    letters.erase(std::remove_if(letters.begin(), letters.end(),
                                 [](char c) { return absl::ascii_isspace(c); }),
                  letters.end());
    std::sort(letters.begin(), letters.end());
    return letters;
  };
  int with_tags = 0;
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    for (const DocumentFormat format : {kHtml, kXml}) {
      const std::string source = RandomMarkup(seed);
      const Document document = Read(source, format);
      for (const Sentence& s : document.sentences) with_tags += !s.tags.empty();
      const std::string translated = TranslateFake(document, seed);
      SCOPED_TRACE(absl::StrCat(source, "\n", translated));
      const Markup before = Strip(source);
      const Markup after = Strip(translated);
      EXPECT_TRUE(IsWellFormed(before.tags));
      EXPECT_TRUE(IsWellFormed(after.tags));
      std::vector<std::string> tags[] = {before.tags, after.tags};
      for (auto& list : tags) std::sort(list.begin(), list.end());
      EXPECT_EQ(tags[0], tags[1]);
      EXPECT_EQ(words(before.text), words(after.text));
    }
  }
  EXPECT_GT(with_tags, 1000);
}

TEST(DocumentTest, MoreTagsThanASentenceMayHaveStandBeforeIt) {
  std::string source = "<p>a ";
  for (int i = 0; i < kMostTags; ++i) source += "<b>";
  source += "x";
  for (int i = 0; i < kMostTags; ++i) source += "</b>";
  const std::string translated = Fake(source + " c</p>", kHtml);
  EXPECT_TRUE(IsWellFormed(Strip(translated).tags));
  EXPECT_THAT(translated, HasSubstr("</b>C X A</p>"));
}

TEST(DocumentTest, MarkupThatIsNotWellFormedKeepsItsTags) {
  for (const char* source :
       {"<p>a <b>b <i>c</b> d</i> e</p>", "a </b> b <i> c", "<b>a<p>b</b>c",
        "a <b", "</i>", "<p>a </x></y> b", "<", "a &", "<![CDATA[", "<!--"}) {
    for (const DocumentFormat format : {kHtml, kXml}) {
      SCOPED_TRACE(source);
      std::vector<std::string> before = Strip(source).tags;
      std::vector<std::string> after = Strip(Fake(source, format)).tags;
      std::sort(before.begin(), before.end());
      std::sort(after.begin(), after.end());
      EXPECT_EQ(before, after);
    }
  }
}

}  // namespace
}  // namespace attend
