#include "server/libretranslate/libretranslate_api.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

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
            "source is 'auto', must be a language of /languages");
  EXPECT_EQ(ErrorOf(R"({"q": "One.", "source": "aa"})"),
            "target is '', must be a language of /languages that it can be "
            "translated to");
  EXPECT_EQ(ErrorOf(with(R"("format": "xml")")),
            "format is \"xml\", must be \"text\" or \"html\"");
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
  EXPECT_EQ(ErrorOf("q=a&q=b", kForm), "q is there twice");
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

}  // namespace
}  // namespace attend
