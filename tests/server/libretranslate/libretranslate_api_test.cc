#include "server/libretranslate/libretranslate_api.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/http_call/http_fixture.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A server with one fake model, which translates between "aa" and "bb" in two
// words. Of a text of n bytes: the token of the target language, which is w301
// for "bb", and "w<31 * (n + 2) + 1>".
HttpFixtureOptions OneModel() {
  HttpFixtureOptions options;
  options.engines[0].info.generation.max_new_tokens = 2;
  options.apis = {LibreTranslateApi()};
  return options;
}

class LibreTranslateTest : public testing::Test {
 protected:
  std::string Ask(const char* verb, absl::string_view path,
                  absl::string_view body, absl::string_view type) {
    RawHttp client;
    EXPECT_TRUE(client.Connect(fixture_.port()));
    EXPECT_TRUE(client.Send(absl::StrCat(
        HttpRequestText(
            verb, path,
            absl::StrCat("Connection: close\r\nContent-Type: ", type,
                         "\r\nContent-Length: ", body.size(), "\r\n")),
        body)));
    return client.ReadToEnd();
  }
  json Translate(absl::string_view body,
                 absl::string_view type = "application/json") {
    const std::string answer = Ask("POST", "/translate", body, type);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
    return json::parse(BodyOf(answer), nullptr, false);
  }
  json TranslateForm(absl::string_view body) {
    return Translate(body, "application/x-www-form-urlencoded; charset=UTF-8");
  }
  // The error of an answer with the status 400.
  std::string ErrorOf(absl::string_view body,
                      absl::string_view type = "application/json") {
    const std::string answer = Ask("POST", "/translate", body, type);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 "));
    return json::parse(BodyOf(answer), nullptr, false)["error"];
  }

  HttpFixture fixture_{OneModel()};
};

TEST_F(LibreTranslateTest, ATextIsADocument) {
  EXPECT_EQ(Translate(R"({"q": "One two.\n\nThree four. ",
                          "source": "aa", "target": "bb"})"),
            json::parse(R"({"translatedText": "w301 w311\n\nw301 w404 "})"));
  fixture_.ExpectCounted(R"(code="OK",method="/translate",model="fake")");
}

TEST_F(LibreTranslateTest, AListHasAListOfAnswers) {
  EXPECT_EQ(Translate(R"({"q": ["One two.", ""],
                          "source": "aa", "target": "bb"})"),
            json::parse(R"({"translatedText": ["w301 w311", ""]})"));
  // All choices of the fake are the same, and none is told twice.
  EXPECT_EQ(Translate(R"({"q": ["One two."], "alternatives": 2,
                          "source": "aa", "target": "bb"})"),
            json::parse(R"({"translatedText": ["w301 w311"],
                            "alternatives": [[]]})"));
}

TEST_F(LibreTranslateTest, HtmlKeepsItsTags) {
  EXPECT_EQ(Translate(R"({"q": "<p>One two.</p>", "format": "html",
                          "source": "aa", "target": "bb"})"),
            json::parse(R"({"translatedText": "<p>w301 w311</p>"})"));
}

TEST_F(LibreTranslateTest, AFormSaysTheSameAsJson) {
  const json expected = Translate(R"({"q": "One & two.", "format": "html",
                                      "source": "aa", "target": "bb",
                                      "alternatives": 3, "api_key": "k"})");
  EXPECT_EQ(TranslateForm("q=One+%26%20two.&source=aa&target=bb&format=html&"
                          "alternatives=3&api_key=k"),
            expected);
  EXPECT_EQ(expected["alternatives"], json::array());
}

// As in Flask's request.values, which LibreTranslate reads.
TEST_F(LibreTranslateTest, ParametersMayStandInTheQuery) {
  const auto post = [&](absl::string_view query, absl::string_view body,
                        absl::string_view type) {
    const std::string answer =
        Ask("POST", absl::StrCat("/translate?", query), body, type);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 "));
    return json::parse(BodyOf(answer), nullptr, false);
  };
  constexpr char kForm[] = "application/x-www-form-urlencoded";
  constexpr char kJson[] = "application/json";
  const json expected =
      Translate(R"({"q": "One & two.", "source": "aa", "target": "bb"})");
  constexpr char kAll[] = "q=One+%26%20two.&source=aa&target=bb";
  EXPECT_EQ(post(kAll, "", kForm), expected);
  EXPECT_EQ(post(kAll, "", kJson), expected);
  EXPECT_EQ(post(kAll, "", "text/plain"), expected);
  EXPECT_EQ(post("source=aa&target=bb", "q=One+%26%20two.", kForm), expected);
  EXPECT_EQ(post("source=aa&api_key=", R"({"q": "One & two.", "target": "bb"})",
                 kJson),
            expected);
  EXPECT_EQ(post("source=aa", R"({"q": "a", "source": "bb"})", kJson)["error"],
            "source is there twice, with different values");
  EXPECT_EQ(post("q=%ff", "", kForm)["error"], "the form is not UTF-8");
  EXPECT_EQ(post("colour=1", "", kForm)["error"],
            "colour is not a field that this server knows here");
}

// A program's form has fields that its user has left empty.
TEST_F(LibreTranslateTest, EmptyFieldsMeanTheirDefaults) {
  EXPECT_EQ(TranslateForm("q=One+two.&source=aa&target=bb&format=&"
                          "alternatives=&api_key="),
            Translate(R"({"q": "One two.", "source": "aa", "target": "bb"})"));
}

TEST_F(LibreTranslateTest, ATextInTheTargetLanguageIsItsTranslation) {
  constexpr char kHtml[] = "<p>One <b>two</b> &amp; three";
  const json html = Translate(json{
      {"q", kHtml},
      {"format", "html"},
      {"source", "bb"},
      {"target", "bb"},
      {"alternatives", 2}}.dump());
  EXPECT_EQ(html["translatedText"], kHtml);
  EXPECT_EQ(html["alternatives"], json::array());
  EXPECT_EQ(Translate(R"({"q": ["a", ""], "source": "aa", "target": "aa-ET"})"),
            json::parse(R"({"translatedText": ["a", ""]})"));
  EXPECT_EQ(ErrorOf(R"({"q": [], "source": "aa", "target": "aa"})"),
            "q has 0 entries, must be 1 to 256 (max_batch_inputs)");
}

TEST_F(LibreTranslateTest, ErrorsNameTheField) {
  const auto with = [](const char* field) {
    return absl::StrCat(R"({"q": "One.", "source": "aa", "target": "bb", )",
                        field, "}");
  };
  EXPECT_EQ(ErrorOf("{}"), "q is absent, must be there");
  EXPECT_EQ(ErrorOf(R"({"q": 1, "source": "aa", "target": "bb"})"),
            "q is 1, must be a string or a list of strings");
  EXPECT_EQ(ErrorOf(R"({"q": [], "source": "aa", "target": "bb"})"),
            "q has 0 entries, must be 1 to 256 (max_batch_inputs)");
  EXPECT_EQ(ErrorOf(R"({"q": "One.", "source": "auto", "target": "bb"})"),
            "source is 'auto', must be a language of /languages: nothing "
            "detects languages, and there are 2 from which 'bb' can be "
            "translated to");
  EXPECT_EQ(ErrorOf(R"({"q": "One.", "source": "xx", "target": "xx"})"),
            "source is 'xx', must be a language of /languages");
  EXPECT_EQ(ErrorOf(R"({"q": "One.", "source": "aa"})"),
            "target is '', must be a language of /languages that the source "
            "can be translated to");
  EXPECT_EQ(ErrorOf(with(R"("format": "xml")")),
            "format is \"xml\", must be \"text\", \"html\" or \"markdown\"");
  EXPECT_EQ(ErrorOf(with(R"("alternatives": 8)")),
            "alternatives is 8, must be 0 to 7");
  EXPECT_THAT(ErrorOf(with(R"("alternatives": "many")")),
              HasSubstr("alternatives is \"many\", must be an integer"));
  EXPECT_EQ(ErrorOf(with(R"("glossary": {})")),
            "glossary is not a field that this server knows here");
  EXPECT_THAT(ErrorOf(R"({"q": "a \u0001 b", "source": "aa", "target": "bb"})"),
              StartsWith("q[0], sentence 0"));
}

TEST_F(LibreTranslateTest, WrongBodiesAreErrors) {
  constexpr char kForm[] = "application/x-www-form-urlencoded";
  EXPECT_EQ(ErrorOf("q=a&q=b", kForm),
            "q is there twice, with different values");
  EXPECT_EQ(ErrorOf("q=%ff", kForm), "the form is not UTF-8");
  EXPECT_EQ(ErrorOf("q=%4", kForm),
            "the url has a % without two hexadecimal digits");
  EXPECT_EQ(ErrorOf("", kForm), "q is absent, must be there");
  EXPECT_THAT(ErrorOf("q=a", "application/json"), HasSubstr("not valid json"));
  EXPECT_EQ(ErrorOf("", "multipart/form-data; boundary=a"),
            "Content-Type must be application/json or "
            "application/x-www-form-urlencoded");
}

TEST_F(LibreTranslateTest, LanguagesAreThoseOfTheModels) {
  const std::string answer = Ask("GET", "/languages", "", "text/plain");
  EXPECT_EQ(json::parse(BodyOf(answer)),
            json::parse(R"([{"code": "aa", "name": "Afar", "targets": ["bb"]},
                            {"code": "bb", "name": "bb", "targets": ["aa"]}])"));
}

TEST_F(LibreTranslateTest, NothingDetectsLanguages) {
  const std::string answer =
      Ask("POST", "/detect", R"({"q": "One."})", "application/json");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(json::parse(BodyOf(answer))["error"].get<std::string>(),
              StartsWith("not found"));
}

TEST(LibreTranslateModelsTest, TheFirstThatTranslatesIsAsked) {
  HttpFixtureOptions options = OneModel();
  options.engines.push_back(options.engines[0]);
  options.engines[0].info.name = "chat";
  options.engines[0].info.continues_source = true;
  HttpFixture fixture(std::move(options));
  EXPECT_THAT(fixture.Post("/translate",
                           R"({"q": "a", "source": "aa", "target": "bb"})"),
              StartsWith("HTTP/1.1 200 "));
  fixture.ExpectCounted(R"(code="OK",method="/translate",model="fake")");
}

// Models that translate only from, and only to, the languages of a row.
class LibreTranslatePairsTest : public testing::Test {
 protected:
  json Translate(std::vector<FakeLanguages> models, const char* source,
                 const char* target) {
    HttpFixtureOptions options = OneModel();
    options.engines.resize(models.size(), options.engines[0]);
    for (size_t i = 0; i < models.size(); ++i) {
      options.engines[i].info.name = absl::StrCat("model-", i);
    }
    options.languages = std::move(models);
    const HttpFixture fixture(std::move(options));
    const json body = {{"q", "One."}, {"source", source}, {"target", target}};
    return json::parse(BodyOf(fixture.Post("/translate", body.dump())));
  }
  const FakeLanguages to_bb_ = {{"aa"}, {"bb"}};
  const FakeLanguages to_aa_ = {{"bb"}, {"aa"}};
};

TEST_F(LibreTranslatePairsTest, AutoIsTheOnlySourceOfTheTarget) {
  const std::vector<std::vector<FakeLanguages>> served = {
      {to_bb_}, {to_bb_, to_aa_}, {to_aa_, to_bb_, to_bb_}};
  for (const std::vector<FakeLanguages>& models : served) {
    const json answer = Translate(models, "auto", "bb");
    EXPECT_EQ(answer["translatedText"],
              Translate(models, "aa", "bb")["translatedText"]);
    EXPECT_EQ(answer["detectedLanguage"],
              json::parse(R"({"confidence": 100, "language": "aa"})"));
  }
  EXPECT_FALSE(Translate({to_bb_}, "aa", "bb").contains("detectedLanguage"));
}

TEST_F(LibreTranslatePairsTest, AutoIsTheTargetIfThereIsNoOtherSource) {
  EXPECT_EQ(Translate({to_bb_}, "auto", "aa"),
            json::parse(R"({"translatedText": "One.", "detectedLanguage":
                            {"confidence": 100, "language": "aa"}})"));
}

TEST_F(LibreTranslatePairsTest, AutoIsAnErrorWhereNothingSaysWhichSource) {
  EXPECT_THAT(Translate({to_bb_, {{"bb", "de"}, {"bb"}}}, "auto", "bb")["error"]
                  .get<std::string>(),
              HasSubstr("there are 3 from which 'bb'"));
  EXPECT_THAT(Translate({to_bb_}, "auto", "de")["error"].get<std::string>(),
              StartsWith("target is 'de', must be"));
  EXPECT_THAT(Translate({{{}, {}}}, "auto", "bb")["error"].get<std::string>(),
              StartsWith("target is 'bb', must be"));
}

TEST_F(LibreTranslatePairsTest, AModelOfOnePairReturnsWhatIsInItsLanguages) {
  for (const char* language : {"aa", "bb"}) {
    EXPECT_EQ(Translate({to_bb_}, language, language)["translatedText"],
              "One.");
  }
  EXPECT_THAT(Translate({to_bb_}, "de", "de")["error"].get<std::string>(),
              StartsWith("source is 'de'"));
}

}  // namespace
}  // namespace attend
