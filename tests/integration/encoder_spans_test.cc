// Spans of texts, labels that the request gives, and answers, of a real server,
// as the pipelines of transformers have them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/integration/encoder_server.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using Labels = std::vector<std::string>;

constexpr float kTolerance = 1e-4f;

class EncoderSpansTest : public testing::Test {
 protected:
  v1::ClassifyResult Classify(const v1::ClassifyRequest& request) {
    const auto response = client_.Classify(request);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? response->results(0) : v1::ClassifyResult();
  }
  void ExpectLabels(const v1::ClassifyResult& result, const Json& one,
                    const char* scores) {
    ASSERT_EQ(result.labels_size(), static_cast<int>(one["labels"].size()));
    for (int i = 0; i < result.labels_size(); ++i) {
      const v1::LabelScore& label = result.labels(i);
      EXPECT_EQ(label.label(), one["labels"][i].get<std::string>());
      EXPECT_EQ(one["candidates"][label.index()].get<std::string>(),
                label.label());
      EXPECT_NEAR(label.score(), one[scores][i].get<float>(), kTolerance);
    }
  }
  void ExpectInvalid(const v1::ClassifyRequest& request, const char* what) {
    const auto response = client_.Classify(request);
    EXPECT_TRUE(absl::IsInvalidArgument(response.status()));
    EXPECT_THAT(response.status().message(), HasSubstr(what));
  }
  void ExpectInvalid(const v1::AnswerRequest& request, const char* what) {
    const auto response = client_.Answer(request);
    EXPECT_TRUE(absl::IsInvalidArgument(response.status()));
    EXPECT_THAT(response.status().message(), HasSubstr(what));
  }

  Client client_{EncoderServer().client_options()};
};

v1::Aggregation AggregationOf(const std::string& name) {
  v1::Aggregation found = v1::AGGREGATION_UNSPECIFIED;
  EXPECT_TRUE(v1::Aggregation_Parse(
      absl::StrCat("AGGREGATION_", absl::AsciiStrToUpper(name)), &found));
  return found;
}

TEST_F(EncoderSpansTest, LabelsSpans) {
  for (const Json& one : TextCases("spans")) {
    SCOPED_TRACE(one.dump());
    auto request = ForText<v1::ClassifyRequest>(one["model"], one["text"]);
    request.set_aggregation(AggregationOf(one["aggregation"]));
    const Labels ignored = one["ignored"];
    for (const std::string& label : ignored) request.add_ignore_labels(label);
    if (ignored.empty()) request.add_ignore_labels("");
    if (ignored == Labels{"O"}) request.clear_ignore_labels();
    const v1::ClassifyResult result = Classify(request);
    EXPECT_TRUE(result.tokens().empty());
    ASSERT_EQ(result.spans_size(), static_cast<int>(one["spans"].size()));
    for (int i = 0; i < result.spans_size(); ++i) {
      const v1::LabelSpan& span = result.spans(i);
      const Json& expected = one["spans"][i];
      EXPECT_EQ(span.label(), expected["label"].get<std::string>());
      EXPECT_NEAR(span.score(), expected["score"].get<float>(), kTolerance);
      EXPECT_EQ(span.begin(), expected["begin"].get<int>());
      EXPECT_EQ(span.end(), expected["end"].get<int>());
      EXPECT_EQ(span.text(), request.inputs(0).text().substr(
                                 span.begin(), span.end() - span.begin()));
    }
  }
}

TEST_F(EncoderSpansTest, LabelsOfTheRequest) {
  for (const Json& one : TextCases("zero_shot")) {
    SCOPED_TRACE(one.dump());
    auto request = ForText<v1::ClassifyRequest>(one["model"], one["text"]);
    for (const std::string label : one["candidates"]) {
      request.add_candidate_labels(label);
    }
    const std::string text = one["template"];
    if (text != "This example is {}.") request.set_hypothesis_template(text);
    request.set_multi_label(one["multi_label"]);
    request.set_truncate(true);
    ExpectLabels(Classify(request), one, "scores");
  }
}

TEST_F(EncoderSpansTest, Chooses) {
  for (const Json& one : TextCases("choose")) {
    SCOPED_TRACE(one.dump());
    auto request = ForText<v1::ClassifyRequest>(one["model"], one["text"]);
    for (const std::string label : one["candidates"]) {
      request.add_candidate_labels(label);
    }
    ExpectLabels(Classify(request), one, "scores");
    request.set_raw_scores(true);
    ExpectLabels(Classify(request), one, "raw");
  }
}

// Each input has a result, and what is wrong with one is its own.
TEST_F(EncoderSpansTest, SeveralInputsWithLabelsOfTheRequest) {
  auto request = ForText<v1::ClassifyRequest>("bert-inference", "a dog");
  request.add_inputs()->mutable_tokens()->add_ids(9);
  request.add_inputs()->set_text("the garden");
  for (const char* label : {"tea", "ball", "red"}) {
    request.add_candidate_labels(label);
  }
  request.set_top_k(2);
  const auto response = client_.Classify(request);
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->results_size(), 3);
  EXPECT_EQ(response->results(0).labels_size(), 2);
  EXPECT_EQ(response->results(1).status().message(),
            "inputs[1] must be one text, because candidate_labels is set");
  EXPECT_EQ(response->results(2).labels_size(), 2);
  // Three pairs of [CLS] the garden [SEP] this example is ... [SEP].
  const v1::ClassifyResult alone = Classify([&] {
    v1::ClassifyRequest one = request;
    one.mutable_inputs()->DeleteSubrange(0, 2);
    return one;
  }());
  EXPECT_EQ(alone.labels(0).score(), response->results(2).labels(0).score());
  EXPECT_EQ(alone.usage().source_tokens(),
            response->results(2).usage().source_tokens());
  EXPECT_GT(alone.usage().source_tokens(), 3 * 5);
}

TEST_F(EncoderSpansTest, WhatIsWrongWithLabelsIsNamed) {
  const auto request = [](const char* model, auto change) {
    auto made = ForText<v1::ClassifyRequest>(model, "a dog");
    change(made);
    return made;
  };
  const auto candidates = [&](const char* model, auto change) {
    return request(model, [&](auto& r) {
      r.add_candidate_labels("a");
      change(r);
    });
  };
  const auto none = [](auto&) {};
  ExpectInvalid(candidates("bert-4x-labels", none),
                "cannot zero shot or choose");
  ExpectInvalid(request("bert-choice", none), "cannot classify");
  ExpectInvalid(
      candidates("bert-inference", [](auto& r) { r.add_candidate_labels(""); }),
      "candidate_labels[1] is empty");
  for (const char* text : {"no place", "{} and {}", "{{}}", "{} {x}"}) {
    ExpectInvalid(candidates("bert-inference",
                             [&](auto& r) { r.set_hypothesis_template(text); }),
                  "hypothesis_template must have {} once");
  }
  ExpectInvalid(
      candidates("bert-choice", [](auto& r) { r.set_multi_label(true); }),
      "multi_label is true");
  ExpectInvalid(request("bert-inference",
                        [](auto& r) { r.set_hypothesis_template("{}"); }),
                "hypothesis_template is set");
  ExpectInvalid(
      request("bert-4x-labels",
              [](auto& r) { r.set_aggregation(v1::AGGREGATION_FIRST); }),
      "labels no tokens");
  const auto spans = [&](auto change) {
    return request("bert-tokens", [&](auto& r) {
      r.set_aggregation(v1::AGGREGATION_FIRST);
      change(r);
    });
  };
  ExpectInvalid(spans([](auto& r) { r.set_top_k(2); }), "top_k is set");
  ExpectInvalid(spans([](auto& r) { r.set_raw_scores(true); }),
                "raw_scores is set");
  ExpectInvalid(spans([](auto& r) { r.mutable_inputs(0)->set_pair("b"); }),
                "must be one text, because aggregation is set");
  ExpectInvalid(spans([](auto& r) {
                  r.set_aggregation(static_cast<v1::Aggregation>(9));
                }),
                "aggregation is 9, must be in [0, 5]");
  ExpectInvalid(
      request("bert-tokens", [](auto& r) { r.add_ignore_labels("O"); }),
      "ignore_labels is set");
}

v1::AnswerRequest QuestionOf(const Json& one) {
  v1::AnswerRequest request;
  request.set_model(one["model"]);
  v1::Question& question = *request.add_questions();
  question.set_question(one["question"]);
  question.set_context(one["context"]);
  const Json& options = one["options"];
  request.set_top_k(options.value("top_k", 0));
  request.set_max_answer_tokens(options.value("max_answer_len", 0));
  request.set_max_window_tokens(options.value("max_seq_len", 0));
  if (options.contains("doc_stride")) {
    request.set_window_overlap(options["doc_stride"]);
  }
  request.set_allow_no_answer(options.value("handle_impossible_answer", false));
  request.set_split_words(!options.value("align_to_words", true));
  return request;
}

TEST_F(EncoderSpansTest, AnswersQuestions) {
  int none = 0;
  for (const Json& one : TextCases("answer")) {
    SCOPED_TRACE(one.dump());
    const auto response = client_.Answer(QuestionOf(one));
    ASSERT_TRUE(response.ok()) << response.status();
    const v1::AnswerResult& result = response->results(0);
    ASSERT_EQ(result.answers_size(), static_cast<int>(one["answers"].size()));
    for (int i = 0; i < result.answers_size(); ++i) {
      const v1::TextAnswer& answer = result.answers(i);
      const Json& expected = one["answers"][i];
      EXPECT_EQ(answer.text(), expected["text"].get<std::string>());
      EXPECT_NEAR(answer.score(), expected["score"].get<float>(), kTolerance);
      EXPECT_EQ(answer.begin(), expected["begin"].get<int>());
      EXPECT_EQ(answer.end(), expected["end"].get<int>());
      none += answer.text().empty();
    }
  }
  EXPECT_GT(none, 0);
}

TEST_F(EncoderSpansTest, WhatIsWrongWithAQuestionIsItsOwn) {
  const auto request = [](auto change) {
    v1::AnswerRequest made;
    made.set_model("bert-spans");
    v1::Question& question = *made.add_questions();
    question.set_question("a dog?");
    question.set_context("the garden");
    change(made);
    return made;
  };
  const auto several = client_.Answer(request([](auto& r) {
    r.add_questions()->set_question("dog");
    r.add_questions()->set_context("dog");
    *r.add_questions() = r.questions(0);
    r.mutable_questions(3)->set_question(std::string(300, '!'));
  }));
  ASSERT_TRUE(several.ok()) << several.status();
  EXPECT_EQ(several->results(0).answers_size(), 1);
  EXPECT_EQ(several->results(1).status().message(),
            "questions[1].context has no tokens, must have one");
  EXPECT_EQ(several->results(2).status().message(),
            "questions[2].question has no tokens, must have one");
  EXPECT_THAT(several->results(3).status().message(),
              HasSubstr("questions[3].question has 303 tokens"));
  ExpectInvalid(request([](auto& r) { r.clear_questions(); }),
                "questions has 0 entries");
  ExpectInvalid(request([](auto& r) { r.set_top_k(101); }),
                "top_k is 101, must be in [0, 100]");
  ExpectInvalid(request([](auto& r) { r.set_max_answer_tokens(1001); }),
                "max_answer_tokens is 1001");
  ExpectInvalid(request([](auto& r) { r.set_max_window_tokens(57); }),
                "max_window_tokens is 57, must be in [0, 56]");
  ExpectInvalid(request([](auto& r) { r.set_window_overlap(56); }),
                "window_overlap is 56, must be in [0, 55]");
  ExpectInvalid(
      request([](auto& r) {
        r.mutable_questions(0)->set_context(std::string((1 << 20) + 1, 'a'));
      }),
      "questions[0].context has 1048577 bytes, limit is 1048576");
  ExpectInvalid(request([](auto& r) { r.set_model("bert-tokens"); }),
                "cannot answer");
}

// Five thousand texts in a call with the default options, which are embedded as
// they are alone.
TEST_F(EncoderSpansTest, ACallHasThousandsOfInputs) {
  v1::EmbedRequest request;
  request.set_model("bert-mean-pooling");
  request.set_encoding(v1::EMBEDDING_FLOAT32);
  for (int i = 0; i < 5000; ++i) {
    request.add_inputs()->set_text(i % 2 == 0 ? "a dog" : "the garden");
  }
  const auto response = client_.Embed(request);
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->results_size(), 5000);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(response->results(i).status().code(), 0) << i;
    ASSERT_EQ(response->results(i).data(), response->results(i % 2).data());
  }
  EXPECT_NE(response->results(0).data(), response->results(1).data());
}

}  // namespace
}  // namespace attend
