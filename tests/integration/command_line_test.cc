// The `attend` command on a real server, from end to end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"

namespace attend {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

Outcome Attend(const std::string& arguments, const std::string& input = "") {
  return RunShell(
      absl::StrCat("export ATTEND_ADDRESS=", SharedServer().address(),
                   "; " ATTEND_CLI " ", arguments),
      input);
}

// What the library gets for a sentence, with the model's own parameters.
std::string Translation(const std::string& text) {
  v1::GenerateRequest request;
  request.add_inputs()->set_text(text);
  Client client(SharedServer().client_options());
  return Only(client.Generate(request)).choices(0).text();
}

TEST(CommandLineTest, TranslatesArgumentsFilesAndStandardInput) {
  std::string input, expected;
  for (int i = 0; i < 4; ++i) {
    input += Sentence(i) + "\n";
    expected += Translation(Sentence(i)) + "\n";
  }
  const Outcome piped = Attend("translate", input);
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ(piped.out, expected);
  EXPECT_EQ(Attend("translate --file in", input).out, expected);
  EXPECT_EQ(Attend("translate --stream", input).out, expected);
  EXPECT_EQ(Attend("translate '" + Sentence(0) + "'").out,
            Translation(Sentence(0)) + "\n");
  const Outcome wrong = Attend("translate --model other Hello");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("NOT_FOUND"));
}

TEST(CommandLineTest, ScoresAndTokenizes) {
  const Outcome score = Attend("score 'Hello!' 'Hallo!'");
  EXPECT_EQ(score.exit_code, 0) << score.err;
  EXPECT_LT(std::stod(score.out), 0);
  EXPECT_GT(std::stod(score.out),
            std::stod(Attend("score 'Hello!' 'Der Hund schläft.'").out));
  const Outcome ids =
      Attend("tokenize --no-special-tokens '" + Sentence(0) + "'");
  EXPECT_EQ(ids.exit_code, 0) << ids.err;
  const std::string text = ids.out.substr(0, ids.out.size() - 1);
  EXPECT_EQ(Attend("tokenize --decode '" + text + "'").out, Sentence(0) + "\n");
}

TEST(CommandLineTest, ListsModels) {
  EXPECT_THAT(Attend("models").out, HasSubstr(kModelName));
  const auto json = nlohmann::json::parse(Attend("models --json").out);
  EXPECT_EQ(json["models"][0]["name"], kModelName);
  EXPECT_EQ(json["models"][0]["family"], "marian");
}

TEST(CommandLineTest, ShowsAServerLive) {
  const Outcome outcome =
      Attend(absl::StrCat("top http://127.0.0.1:", SharedServer().http_port(),
                          " --interval 100ms --pictures 2"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ContainsRegex("\nen-de +yes +[0-9.]+ +0 +0 "));
  EXPECT_THAT(outcome.out, ContainsRegex("memory [1-9][0-9]+ MB"));
}

TEST(CommandLineTest, MeasuresInAClosedAndInAnOpenLoop) {
  const std::string common =
      "bench --requests 6 --warmup 1 --stream --json --max-new-tokens 8 ";
  for (const char* loop : {"--concurrency 2", "--rate 200"}) {
    const Outcome outcome = Attend(common + loop);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["succeeded"], 6);
    EXPECT_TRUE(json["errors"].empty());
    EXPECT_GE(json["generated_tokens"], 6);
    EXPECT_EQ(json["first_token_seconds"]["count"], 6);
    EXPECT_GT(json["end_to_end_seconds"]["p50"], 0);
  }
}

}  // namespace
}  // namespace attend
