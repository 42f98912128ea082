// Spans of texts that are longer than what the model reads at once, of a real
// server, as the pipeline of transformers finds them with a stride.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tests/integration/encoder_server.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

v1::ClassifyRequest RequestOf(const Json& one) {
  auto request = ForText<v1::ClassifyRequest>(one["model"], one["text"]);
  v1::Aggregation aggregation = v1::AGGREGATION_UNSPECIFIED;
  EXPECT_TRUE(v1::Aggregation_Parse(
      absl::StrCat("AGGREGATION_", absl::AsciiStrToUpper(
                                       one["aggregation"].get<std::string>())),
      &aggregation));
  request.set_aggregation(aggregation);
  if (one["ignored"].empty()) request.add_ignore_labels("");
  request.set_stride(one["stride"]);
  return request;
}

class SpanWindowsTest : public testing::Test {
 protected:
  void ExpectInvalid(const v1::ClassifyRequest& request, const char* what) {
    const auto response = client_.Classify(request);
    EXPECT_TRUE(absl::IsInvalidArgument(response.status()));
    EXPECT_THAT(response.status().message(), HasSubstr(what));
  }

  Client client_{EncoderServer().client_options()};
};

TEST_F(SpanWindowsTest, AreThoseOfThePipeline) {
  const Json& cases = TextCases("span_windows");
  ASSERT_FALSE(cases.empty());
  for (const Json& one : cases) {
    SCOPED_TRACE(absl::StrCat(one["model"].dump(), one["stride"].dump(),
                              one["aggregation"].dump(), one["text"].dump()));
    const v1::ClassifyRequest request = RequestOf(one);
    const auto response = client_.Classify(request);
    ASSERT_TRUE(response.ok()) << response.status();
    ASSERT_EQ(response->results_size(), 1);
    const v1::ClassifyResult& result = response->results(0);
    ASSERT_EQ(result.spans_size(), static_cast<int>(one["spans"].size()));
    for (int i = 0; i < result.spans_size(); ++i) {
      const v1::LabelSpan& span = result.spans(i);
      const Json& expected = one["spans"][i];
      EXPECT_EQ(span.label(), expected["label"].get<std::string>()) << i;
      EXPECT_NEAR(span.score(), expected["score"].get<float>(), 1e-4f) << i;
      EXPECT_EQ(span.begin(), expected["begin"].get<int>()) << i;
      EXPECT_EQ(span.end(), expected["end"].get<int>()) << i;
      EXPECT_EQ(span.text(), request.inputs(0).text().substr(
                                 span.begin(), span.end() - span.begin()));
    }
  }
}

// Texts of several windows and of one, and one that cannot be read, have a
// result each, which does not depend on the others.
TEST_F(SpanWindowsTest, TextsOfACallAreApart) {
  const Json& cases = TextCases("span_windows");
  const Json& one = cases[0];
  v1::ClassifyRequest request = RequestOf(one);
  const auto alone = client_.Classify(request);
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_GT(alone->results(0).usage().source_tokens(), 56);
  request.clear_inputs();
  request.add_inputs()->set_text("the cat sleeps");
  request.add_inputs()->set_text(one["text"]);
  request.add_inputs()->set_text(std::string((1 << 20) + 1, 'a'));
  request.add_inputs()->mutable_tokens()->add_ids(7);
  request.add_inputs()->set_text(one["text"]);
  const auto together = client_.Classify(request);
  ASSERT_TRUE(together.ok()) << together.status();
  ASSERT_EQ(together->results_size(), 5);
  EXPECT_EQ(together->results(0).usage().source_tokens(), 5);
  EXPECT_EQ(together->results(2).status().message(),
            "inputs[2].text has 1048577 bytes, limit is 1048576");
  EXPECT_EQ(together->results(3).status().message(),
            "inputs[3] must be one text, because aggregation is set");
  for (const int i : {1, 4}) {
    const v1::ClassifyResult& result = together->results(i);
    EXPECT_EQ(result.usage().source_tokens(),
              alone->results(0).usage().source_tokens());
    ASSERT_EQ(result.spans_size(), alone->results(0).spans_size());
    for (int s = 0; s < result.spans_size(); ++s) {
      EXPECT_EQ(result.spans(s).SerializeAsString(),
                alone->results(0).spans(s).SerializeAsString());
    }
  }
}

TEST_F(SpanWindowsTest, WhatIsWrongWithAStrideIsNamed) {
  auto request = RequestOf(TextCases("span_windows")[0]);
  for (const v1::Aggregation aggregation :
       {v1::AGGREGATION_UNSPECIFIED, v1::AGGREGATION_NONE}) {
    v1::ClassifyRequest other = request;
    other.set_aggregation(aggregation);
    ExpectInvalid(other, "stride is set, must be unset without aggregation");
  }
  for (const int stride : {-1, 56}) {
    request.set_stride(stride);
    ExpectInvalid(
        request,
        absl::StrCat("stride is ", stride, ", must be in [0, 56)").c_str());
  }
  // Two of the 56 tokens are special.
  request.set_stride(54);
  ExpectInvalid(request,
                "inputs[0].text is longer than a window of 56 tokens "
                "(max_text_tokens), which has room for 54 of the text, must be "
                "more than 54 (stride)");
}

}  // namespace
}  // namespace attend
