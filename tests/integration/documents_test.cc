// Documents on a real server, with the bundled model.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kDocuments = kSanitized ? 8 : 40;

class DocumentsTest : public testing::Test {
 protected:
  v1::Translation Translate(const std::string& document,
                            v1::DocumentFormat format) {
    v1::TranslateRequest request = Request(document, format);
    const auto response = client_.Translate(request);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? response->results(0) : v1::Translation();
  }
  static v1::TranslateRequest Request(const std::string& document,
                                      v1::DocumentFormat format) {
    v1::TranslateRequest request;
    request.add_documents(document);
    request.set_format(format);
    request.mutable_params()->set_num_beams(1);
    request.mutable_params()->set_max_new_tokens(128);
    return request;
  }

  Client client_{SharedServer().client_options()};
};

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// A document of test sentences gives as many sentences back, and each has the
// translation that it has alone.
TEST_F(DocumentsTest, AreTheirSentences) {
  std::vector<std::string> sentences;
  for (const std::string& line :
       Lines(ATTEND_SOURCE_DIR "/tests/golden/en-de/sentences.en")) {
    if (!line.empty() && line.back() == '.') sentences.push_back(line);
    if (sentences.size() == 60) break;
  }
  const auto alone = client_.Generate(Greedy(sentences));
  ASSERT_TRUE(alone.ok()) << alone.status();
  std::mt19937 random(1);
  for (int i = 0; i < kDocuments; ++i) {
    std::string document, expected;
    const size_t count = 2 + random() % 8;
    for (size_t k = 0; k < count; ++k) {
      const size_t index = random() % sentences.size();
      const char* const between[] = {" ", "\n\n", "  ", "\n"};
      const char* const after = between[random() % 4];
      absl::StrAppend(&document, sentences[index], after);
      absl::StrAppend(&expected,
                      alone->results(static_cast<int>(index)).choices(0).text(),
                      after);
    }
    const v1::Translation translation =
        Translate(document, v1::DOCUMENT_FORMAT_TEXT);
    EXPECT_EQ(translation.text(), expected);
    EXPECT_EQ(translation.sentences_size(), count);
  }
}

TEST_F(DocumentsTest, TagsGoWhereTheirWordsWent) {
  const v1::Translation translation = Translate(
      "<p>Two <b>dogs</b> are playing in the <a href=\"x\">white "
      "<i>snow</i></a>. <u>A man is riding a bicycle.</u></p>",
      v1::DOCUMENT_FORMAT_HTML);
  EXPECT_THAT(translation.text(), StartsWith("<p>Zwei <b>Hunde</b> "));
  EXPECT_THAT(translation.text(), HasSubstr("<i>Schnee</i></a>. <u>"));
  EXPECT_THAT(translation.text(), HasSubstr("</u></p>"));
}

TEST_F(DocumentsTest, LiteralsAndTermsAreThereOnce) {
  v1::TranslateRequest request = Request(
      "{name} is riding a bicycle. See https://example.com/a?b=c or mail "
      "me@example.com: a man is eating 5 kg.",
      v1::DOCUMENT_FORMAT_TEXT);
  v1::GlossaryTerm& term = *request.add_glossary();
  term.set_source("bicycle");
  term.set_target("Drahtesel");
  const auto response = client_.Translate(request);
  ASSERT_TRUE(response.ok()) << response.status();
  const std::string& text = response->results(0).text();
  for (const char* once : {"{name}", "https://example.com/a?b=c",
                           "me@example.com", "5 kg", "Drahtesel"}) {
    const size_t found = text.find(once);
    EXPECT_NE(found, std::string::npos) << once << " in " << text;
    EXPECT_EQ(text.find(once, found + 1), std::string::npos) << text;
  }
}

TEST_F(DocumentsTest, AlignmentsFindTheWords) {
  v1::GenerateRequest request = Greedy({"Two dogs are playing in the snow."});
  request.set_alignments(v1::ALIGNMENTS_HARD);
  const v1::GenerateResult result = Only(client_.Generate(request));
  const v1::Choice& choice = result.choices(0);
  ASSERT_EQ(choice.alignment().source_size(), choice.ids_size());
  const auto piece_for = [&](int token) {
    return result.source_tokens(choice.alignment().source(token)).piece();
  };
  EXPECT_EQ(choice.text().substr(0, 10), "Zwei Hunde");
  EXPECT_EQ(piece_for(0), "\u2581Two");
  EXPECT_EQ(piece_for(1), "\u2581dogs");
}

TEST_F(DocumentsTest, TheCommandLinePrintsThem) {
  const std::string page = "<h1>A dog</h1>\n<p>Two <b>dogs</b>.</p>\n";
  const auto run = [&](const std::string& arguments) {
    return RunShell(
        absl::StrCat("export ATTEND_ADDRESS=", SharedServer().address(),
                     "; cat >page.html"
                     "; printf 'dogs\\tWauwaus\\n' >terms.tsv"
                     "; " ATTEND_CLI " translate ",
                     arguments),
        page);
  };
  const Outcome html =
      run("--document page.html --glossary terms.tsv --beams 1");
  EXPECT_EQ(html.exit_code, 0) << html.err;
  EXPECT_THAT(html.out, StartsWith("<h1>"));
  EXPECT_THAT(html.out, HasSubstr("<b>Wauwaus</b>"));
  const Outcome piped = run("--document - --format html < page.html");
  EXPECT_THAT(piped.out, HasSubstr("</h1>\n<p>"));
  const auto json =
      nlohmann::json::parse(run("--document page.html --json").out);
  EXPECT_EQ(json["sentences"].size(), 2u);
  const Outcome missing = run("--document nowhere.html");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("nowhere.html"));
  EXPECT_EQ(run("--document page.html 'A text'").exit_code, 2);
}

}  // namespace
}  // namespace attend
