// `attend embed`, `classify`, `fill-mask` and `rerank` on a real server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/integration/encoder_server.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr double kTolerance = 1e-4;

Outcome Attend(const std::string& arguments, const std::string& input = "") {
  return RunShell(
      absl::StrCat("export ATTEND_ADDRESS=", EncoderServer().address(),
                   "; " ATTEND_CLI " ", arguments),
      input);
}

std::vector<double> Numbers(const std::string& line) {
  std::istringstream stream(line);
  std::vector<double> numbers;
  for (double number; stream >> number;) numbers.push_back(number);
  return numbers;
}

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

TEST(EncoderCommandLineTest, EmbedsAFileInItsOrder) {
  std::string input;
  std::vector<Json> cases;
  for (const Json& one : TextCases("embed")) {
    if (one["model"] != "bert-mean-pooling") continue;
    absl::StrAppend(&input, one["text"].get<std::string>(), "\n");
    cases.push_back(one);
  }
  const Outcome outcome = Attend("embed -m bert-mean-pooling --file in", input);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), cases.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::vector<double> values = Numbers(lines[i]);
    const Json& expected = cases[i]["values"];
    ASSERT_EQ(values.size(), expected.size());
    for (size_t k = 0; k < values.size(); ++k) {
      EXPECT_NEAR(values[k], expected[k], kTolerance);
    }
  }
}

TEST(EncoderCommandLineTest, Classifies) {
  const Json one = TextCases("classify")[0];
  const Outcome outcome = Attend("classify -m bert-4x-labels", one["text"]);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> words = absl::StrSplit(outcome.out, '\t');
  ASSERT_EQ(words.size(), 2 * one["labels"].size());
  for (size_t i = 0; i < one["labels"].size(); ++i) {
    EXPECT_EQ(words[2 * i], one["labels"][i].get<std::string>());
    EXPECT_NEAR(std::stod(words[2 * i + 1]), one["scores"][i], kTolerance);
  }
  const Json tokens = TextCases("classify_tokens")[0]["tokens"];
  const std::string text = TextCases("classify_tokens")[0]["text"];
  EXPECT_EQ(Lines(Attend("classify -m bert-tokens", text).out).size(),
            tokens.size());
}

TEST(EncoderCommandLineTest, LabelsSpansAndChosenLabels) {
  const Json spans = TextCases("spans")[5];  // "simple"
  const Outcome outcome = Attend("classify -m bert-tokens --spans simple",
                                 spans["text"].get<std::string>());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("LOC\t0.8"));
  const Outcome labels = Attend(
      "classify -m bert-inference --label tea --label ball --multi-label "
      "--template 'a {}' 'a dog'");
  EXPECT_EQ(labels.exit_code, 0) << labels.err;
  EXPECT_THAT(labels.out, HasSubstr("tea\t0."));
  EXPECT_THAT(labels.out, HasSubstr("ball\t0."));
}

TEST(EncoderCommandLineTest, Answers) {
  const Json one = TextCases("answer")[0];
  const Outcome outcome =
      Attend(absl::StrCat("answer -m bert-spans '",
                          one["question"].get<std::string>(), "' --file in"),
             one["context"].get<std::string>() + "\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr(one["answers"][0]["text"].get<std::string>()));
}

TEST(EncoderCommandLineTest, FillsMasks) {
  const Outcome outcome = Attend("fill-mask -m bert-mask 'a [MASK] dog runs'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::EndsWith(" dog runs\n"));
  const Outcome none = Attend("fill-mask -m bert-mask 'a dog'");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.out, "\n");
  EXPECT_THAT(none.err,
              HasSubstr("argument 1: INVALID_ARGUMENT: inputs[0] has "
                        "no mask token, must have at least one: [MASK]"));
}

TEST(EncoderCommandLineTest, Reranks) {
  const Json one = TextCases("rerank")[1];
  std::string documents;
  for (const std::string text : one["documents"]) documents += text + "\n";
  const Outcome outcome =
      Attend(absl::StrCat("rerank -m xlm-roberta-4x-reranker '",
                          one["query"].get<std::string>(), "' --file in"),
             documents);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), one["order"].size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::vector<std::string> fields = absl::StrSplit(lines[i], '\t');
    const int document = one["order"][i];
    EXPECT_NEAR(std::stod(fields[0]), one["scores"][i], kTolerance);
    EXPECT_EQ(fields[1], std::to_string(document + 1));
    EXPECT_EQ(fields[2], one["documents"][document].get<std::string>());
  }
}

TEST(EncoderCommandLineTest, AModelThatCannotIsAnErrorThatNamesIt) {
  const Outcome outcome = Attend("classify -m bert-mean-pooling hello");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err,
              HasSubstr("model 'bert-mean-pooling' cannot classify"));
  EXPECT_EQ(Attend("embed -m no-such hello").exit_code, 1);
}

TEST(EncoderCommandLineTest, BenchOfEveryTask) {
  for (const char* task :
       {"embed -m bert-mean-pooling", "classify -m bert-4x-labels",
        "fill-mask -m bert-mask", "rerank -m xlm-roberta-4x-reranker"}) {
    const Outcome outcome = Attend(absl::StrCat(
        "bench --requests 4 --warmup 0 --batch 3 --json --task ", task));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["succeeded"], 4) << task;
    EXPECT_TRUE(json["errors"].empty()) << task;
  }
}

}  // namespace
}  // namespace attend
