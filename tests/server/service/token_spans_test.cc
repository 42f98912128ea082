#include "server/service/token_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/tokenizer/load_tokenizer.h"
#include "nlohmann/json.hpp"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kTests[] = ATTEND_SOURCE_DIR "/tests/";

v1::Aggregation AggregationOf(const std::string& name) {
  v1::Aggregation found = v1::AGGREGATION_UNSPECIFIED;
  EXPECT_TRUE(v1::Aggregation_Parse(
      absl::StrCat("AGGREGATION_", absl::AsciiStrToUpper(name)), &found));
  return found;
}

// A tokenizer that marks no parts of words: they are found by spaces. (What
// marks them is tried with a whole server.)
TEST(TokenSpansTest, WordsOfByteLevelTokens) {
  const json golden = json::parse(
      std::ifstream(absl::StrCat(kTests, "golden/text/spans.json")));
  const auto tokenizer =
      LoadTokenizer(absl::StrCat(kTests, "engine/tokenizer/golden/roberta"));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const std::vector<std::string> labels = golden["labels"];
  for (const json& one : golden["texts"]) {
    const std::string text = one["text"];
    const auto encoding = (*tokenizer)->Encode({.text = text});
    ASSERT_TRUE(encoding.ok()) << encoding.status();
    std::vector<float> logits;
    for (const std::vector<float> row : one["logits"]) {
      logits.insert(logits.end(), row.begin(), row.end());
    }
    ASSERT_EQ(logits.size(), encoding->ids.size() * labels.size());
    for (const json& c : one["cases"]) {
      SCOPED_TRACE(absl::StrCat(text, " ", c["aggregation"].dump(),
                                c["ignored"].dump()));
      const std::vector<std::string> ignored = c["ignored"];
      const auto spans =
          FindSpans({.text = text,
                     .ids = encoding->ids,
                     .origins = encoding->origins,
                     .logits = logits,
                     .labels = labels},
                    AggregationOf(c["aggregation"]), ignored, **tokenizer);
      ASSERT_EQ(spans.size(), c["spans"].size());
      for (size_t i = 0; i < spans.size(); ++i) {
        const json& expected = c["spans"][i];
        EXPECT_EQ(spans[i].label(), expected["label"].get<std::string>());
        EXPECT_NEAR(spans[i].score(), expected["score"].get<float>(), 1e-5);
        EXPECT_EQ(spans[i].begin(), expected["begin"].get<int>());
        EXPECT_EQ(spans[i].end(), expected["end"].get<int>());
      }
    }
  }
}

TEST(TokenSpansTest, LabelsThatAreLeftOut) {
  v1::ClassifyRequest request;
  EXPECT_THAT(IgnoredLabels(request), ElementsAre("O"));
  request.add_ignore_labels("");
  EXPECT_THAT(IgnoredLabels(request), IsEmpty());
  request.add_ignore_labels("PER");
  EXPECT_THAT(IgnoredLabels(request), ElementsAre("", "PER"));
}

}  // namespace
}  // namespace attend
