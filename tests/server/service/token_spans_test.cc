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

v1::LabelSpan SpanAt(int begin, const std::string& text, float score) {
  v1::LabelSpan span;
  span.set_label(absl::StrCat(text, score));
  span.set_score(score);
  span.set_begin(begin);
  span.set_end(begin + static_cast<int>(text.size()));
  span.set_text(text);
  return span;
}

std::vector<std::string> Merged(const std::vector<v1::LabelSpan>& spans) {
  std::vector<std::string> labels;
  for (const v1::LabelSpan& span : MergeOverlaps(spans)) {
    labels.push_back(span.label());
  }
  return labels;
}

TEST(TokenSpansTest, OfSpansThatOverlapOneStays) {
  EXPECT_THAT(Merged({}), IsEmpty());
  // Neighbours do not overlap, and come into the order of the text.
  EXPECT_THAT(Merged({SpanAt(3, "abc", 0.5), SpanAt(0, "abc", 0.25)}),
              ElementsAre("abc0.25", "abc0.5"));
  // The longer one, else the better one, else the one of the first window.
  EXPECT_THAT(Merged({SpanAt(0, "abcd", 0.25), SpanAt(1, "bcd", 0.5)}),
              ElementsAre("abcd0.25"));
  EXPECT_THAT(Merged({SpanAt(0, "abc", 0.25), SpanAt(1, "bcde", 0.125)}),
              ElementsAre("bcde0.125"));
  EXPECT_THAT(Merged({SpanAt(0, "abc", 0.25), SpanAt(2, "cde", 0.5)}),
              ElementsAre("cde0.5"));
  v1::LabelSpan second = SpanAt(0, "abc", 0.25);
  second.set_label("second");
  EXPECT_THAT(Merged({SpanAt(0, "abc", 0.25), second}), ElementsAre("abc0.25"));
  // Lengths are counted in characters: two of four bytes, three of three.
  EXPECT_THAT(Merged({SpanAt(0, "éé", 0.5), SpanAt(2, "éa!", 0.25)}),
              ElementsAre("éa!0.25"));
  // The span that stays is the one that the next one is compared with.
  EXPECT_THAT(Merged({SpanAt(0, "ab", 0.5), SpanAt(1, "bcd", 0.5),
                      SpanAt(3, "de", 0.75), SpanAt(4, "e", 0.5)}),
              ElementsAre("bcd0.5", "e0.5"));
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
