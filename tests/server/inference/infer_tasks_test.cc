// ModelInfer of tasks other than generation. The answers are those of
// attend.v1.

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/inference/infer_task.h"
#include "tests/server/inference/inference_fixture.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InferTasksTest : public InferenceFixture {
 protected:
  InferRequest OfTask(const std::string& task,
                      const std::vector<std::string>& texts) {
    InferRequest request = OfTexts(texts);
    Parameter(request, "task").set_string_param(task);
    return request;
  }
};

FixtureOptions Classifier(std::vector<std::string> labels, bool of_tokens) {
  FixtureOptions options;
  options.engine.info.generates = false;
  options.engine.info.fills_masks = false;
  options.engine.info.classifies = true;
  options.engine.info.labels_tokens = of_tokens;
  options.engine.info.labels = std::move(labels);
  options.engine.info.label_scores = LabelScores::kRaw;
  options.engine.info.pair_scores = LabelScores::kRaw;
  return options;
}

TEST(InferTaskTest, TensorsHaveNamesOfTheirOwn) {
  for (const InferTask* task :
       {&GenerateInferTask(), &ScoreInferTask(), &EmbedInferTask(),
        &EmbedTokensInferTask(), &ClassifyInferTask(),
        &ClassifyTokensInferTask(), &ClassifySpansInferTask(),
        &AnswerInferTask(), &FillMaskInferTask(), &RerankInferTask()}) {
    for (const auto& tensors : {InputsOf(*task), OutputsOf(*task)}) {
      std::set<absl::string_view> names;
      for (const TensorSpec& tensor : tensors) {
        EXPECT_TRUE(names.insert(tensor.name).second)
            << task->name << ": " << tensor.name;
      }
    }
  }
}

TEST_F(InferTasksTest, Score) {
  Build({});
  v1::ScoreRequest twin;
  for (const auto& [source, target] :
       {std::pair("abc", "de"), std::pair("f", "ghij")}) {
    v1::ScorePair& pair = *twin.add_pairs();
    pair.mutable_source()->set_text(source);
    pair.mutable_target()->set_text(target);
  }
  const auto expected = Ask<v1::ScoreResponse>("Score", twin);

  InferRequest request = OfTask("score", {"abc", "f"});
  AddTexts(request, "target_text", {"de", "ghij"});
  const InferResponse response = Infer(request);
  EXPECT_THAT(OutputOf(response, "scores").numbers<double>(),
              ElementsAre(expected.results(0).log_prob(),
                          expected.results(1).log_prob()));
  // The end of sequence is scored, too.
  EXPECT_THAT(OutputOf(response, "output_lengths").numbers<int32_t>(),
              ElementsAre(3, 5));
  const Output ids = OutputOf(response, "output_ids");
  EXPECT_THAT(ids.shape, ElementsAre(2, 5));
  EXPECT_THAT(ids.numbers<int32_t>(),
              ElementsAre('d' + 1, 'e' + 1, 0, -1, -1, 'g' + 1, 'h' + 1,
                          'i' + 1, 'j' + 1, 0));
  const std::vector<float> log_probs =
      OutputOf(response, "log_probs").numbers<float>();
  ASSERT_EQ(log_probs.size(), 10);
  EXPECT_EQ(log_probs[1], expected.results(0).tokens(1).token().log_prob());
  EXPECT_EQ(log_probs[3], 0);
  EXPECT_EQ(log_probs[9], expected.results(1).tokens(4).token().log_prob());
}

// The fake's log-probabilities are -1 less what the decoder starts with.
TEST_F(InferTasksTest, ScoreStartsWithTheTargetLanguageWhereTheDecoderDoes) {
  for (const int start : {0, 300}) {  // 300: "aa"
    FixtureOptions options;
    options.engine.info.generation.decoder_start_id = start;
    Build(options);
    InferRequest request;
    AddTexts(request, "text_input", {"abc"});
    AddTexts(request, "target_text", {"d"});
    Parameter(request, "task").set_string_param("score");
    Parameter(request, "target_language").set_string_param("bb");
    EXPECT_EQ(OutputOf(Infer(request), "log_probs").numbers<float>()[0],
              start == 0 ? -1 : -1 - 301);
  }
}

TEST_F(InferTasksTest, ScoreOfIds) {
  Build({});
  InferRequest request = OfTask("score", {"abc"});
  AddRaw(request, "target_ids", "INT32", {1, 3},
         RawNumbers<int32_t>({5, 6, 7}));
  AddRaw(request, "target_lengths", "INT32", {1}, RawNumbers<int32_t>({2}));
  EXPECT_THAT(OutputOf(Infer(request), "output_ids").numbers<int32_t>(),
              ElementsAre(5, 6));
  request.mutable_inputs(1)->set_shape(0, 3);
  request.mutable_inputs(1)->set_shape(1, 1);
  request.mutable_inputs()->RemoveLast();
  request.mutable_raw_input_contents()->RemoveLast();
  EXPECT_EQ(ErrorOf(request),
            "there are 1 sources and 3 targets, must be as many");
}

TEST_F(InferTasksTest, Embed) {
  Build({});
  v1::EmbedRequest twin;
  twin.add_inputs()->set_text("a");
  twin.add_inputs()->set_text("bc");
  twin.set_dimensions(3);
  twin.set_normalize(true);
  const auto expected = Ask<v1::EmbedResponse>("Embed", twin);
  std::vector<float> values;
  for (const v1::EmbedResult& result : expected.results()) {
    values.insert(values.end(), result.values().begin(), result.values().end());
  }
  InferRequest request = OfTask("embed", {"a", "bc"});
  Parameter(request, "dimensions").set_int64_param(3);
  Parameter(request, "normalize").set_bool_param(true);
  Output output = OutputOf(Infer(request), "embedding");
  EXPECT_EQ(output.datatype, "FP32");
  EXPECT_THAT(output.shape, ElementsAre(2, 3));
  EXPECT_EQ(output.numbers<float>(), values);

  Parameter(request, "encoding").set_string_param("floats");
  EXPECT_EQ(OutputOf(Infer(request), "embedding").numbers<float>(), values);
  Parameter(request, "encoding").set_string_param("bfloat16");
  twin.set_encoding(v1::EMBEDDING_BFLOAT16);
  const auto halves = Ask<v1::EmbedResponse>("Embed", twin);
  output = OutputOf(Infer(request), "embedding");
  EXPECT_EQ(output.datatype, "BF16");
  EXPECT_EQ(output.raw, halves.results(0).data() + halves.results(1).data());
  Parameter(request, "per_token").set_bool_param(true);
  EXPECT_THAT(ErrorOf(request), HasSubstr("parameter 'per_token' is unknown"));
}

TEST_F(InferTasksTest, EmbedTokens) {
  Build({});
  v1::EmbedRequest twin;
  twin.add_inputs()->set_text("a");
  twin.add_inputs()->set_text("bc");
  twin.set_per_token(true);
  const auto expected = Ask<v1::EmbedResponse>("Embed", twin);
  const InferResponse response = Infer(OfTask("embed_tokens", {"a", "bc"}));
  const Output output = OutputOf(response, "token_embedding");
  EXPECT_THAT(output.shape, ElementsAre(2, 3, 3));
  std::vector<float> values(expected.results(0).values().begin(),
                            expected.results(0).values().end());
  values.resize(9);  // padded with zeros
  for (float value : expected.results(1).values()) values.push_back(value);
  EXPECT_EQ(output.numbers<float>(), values);
  EXPECT_THAT(OutputOf(response, "token_count").numbers<int32_t>(),
              ElementsAre(2, 3));
  EXPECT_THAT(OutputOf(response, "token_ids").numbers<int32_t>(),
              ElementsAre('a' + 1, 0, -1, 'b' + 1, 'c' + 1, 0));
  EXPECT_THAT(OutputOf(response, "token_begin").numbers<int32_t>(),
              ElementsAre(0, 0, -1, 0, 1, 0));
  EXPECT_THAT(OutputOf(response, "token_end").numbers<int32_t>(),
              ElementsAre(1, 0, -1, 1, 2, 0));
}

TEST_F(InferTasksTest, Classify) {
  Build(Classifier({"x", "y", "z"}, /*of_tokens=*/false));
  v1::ClassifyRequest twin;
  twin.add_inputs()->set_text("a");
  twin.add_inputs()->set_text("bc");
  twin.mutable_inputs(0)->set_pair("p");
  twin.mutable_inputs(1)->set_pair("q");
  twin.set_top_k(2);
  const auto expected = Ask<v1::ClassifyResponse>("Classify", twin);
  InferRequest request = OfTexts({"a", "bc"});
  AddTexts(request, "text_pair", {"p", "q"});
  Parameter(request, "top_k").set_int64_param(2);
  const InferResponse response = Infer(request);
  std::vector<float> scores;
  std::vector<int32_t> indices;
  std::vector<std::string> labels;
  for (const v1::ClassifyResult& result : expected.results()) {
    for (const v1::LabelScore& label : result.labels()) {
      scores.push_back(label.score());
      indices.push_back(label.index());
      labels.push_back(label.label());
    }
  }
  EXPECT_THAT(OutputOf(response, "scores").shape, ElementsAre(2, 2));
  EXPECT_EQ(OutputOf(response, "scores").numbers<float>(), scores);
  EXPECT_EQ(OutputOf(response, "label_index").numbers<int32_t>(), indices);
  EXPECT_EQ(OutputOf(response, "label").texts(), labels);
  *request.mutable_raw_input_contents(1) = RawTexts({"p"});
  request.mutable_inputs(1)->set_shape(0, 1);
  EXPECT_EQ(ErrorOf(request),
            "input 'text_pair': shape is [1], must be that of 'text_input'");
}

TEST_F(InferTasksTest, ClassifyTokens) {
  Build(Classifier({"x", "y"}, /*of_tokens=*/true));
  v1::ClassifyRequest twin;
  twin.add_inputs()->set_text("a");
  twin.add_inputs()->set_text("bc");
  const auto expected = Ask<v1::ClassifyResponse>("Classify", twin);
  const InferResponse response = Infer(OfTexts({"a", "bc"}));
  EXPECT_THAT(OutputOf(response, "label").shape, ElementsAre(2, 2, 1));
  EXPECT_THAT(OutputOf(response, "label").texts(),
              ElementsAre(expected.results(0).tokens(0).labels(0).label(), "",
                          expected.results(1).tokens(0).labels(0).label(),
                          expected.results(1).tokens(1).labels(0).label()));
  EXPECT_THAT(OutputOf(response, "token_count").numbers<int32_t>(),
              ElementsAre(1, 2));
  EXPECT_THAT(OutputOf(response, "token_ids").numbers<int32_t>(),
              ElementsAre('a' + 1, -1, 'b' + 1, 'c' + 1));
}

TEST_F(InferTasksTest, ClassifySpans) {
  FixtureOptions options = Classifier({"O", "B-x", "I-x"}, /*of_tokens=*/true);
  options.engine.info.max_text_tokens = 6;  // of a window
  Build(options);
  v1::ClassifyRequest twin;
  twin.add_inputs()->set_text("ab");
  twin.add_inputs()->set_text("abcdefghi");
  twin.set_aggregation(v1::AGGREGATION_NONE);
  twin.add_ignore_labels("");
  const auto expected = Ask<v1::ClassifyResponse>("Classify", twin);
  const auto& last = expected.results(1).spans();
  ASSERT_GT(last.size(), expected.results(0).spans_size());
  InferRequest request = OfTask("classify_spans", {"ab", "abcdefghi"});
  // By default neighbours with the same label are one span.
  EXPECT_THAT(OutputOf(Infer(request), "span_count").numbers<int32_t>(),
              ElementsAre(1, 1));
  Parameter(request, "aggregation").set_string_param("none");
  Parameter(request, "ignore_labels").set_string_param("[\"\"]");
  const InferResponse response = Infer(request);
  EXPECT_THAT(OutputOf(response, "span_count").numbers<int32_t>(),
              ElementsAre(expected.results(0).spans_size(), last.size()));
  EXPECT_THAT(OutputOf(response, "label").shape, ElementsAre(2, last.size()));
  EXPECT_EQ(OutputOf(response, "label").texts().back(), last.rbegin()->label());
  EXPECT_EQ(OutputOf(response, "text_output").texts().back(),
            last.rbegin()->text());
  EXPECT_EQ(OutputOf(response, "scores").numbers<float>().back(),
            last.rbegin()->score());
  EXPECT_EQ(OutputOf(response, "span_begin").numbers<int32_t>().back(),
            last.rbegin()->begin());
  EXPECT_EQ(OutputOf(response, "span_end").numbers<int32_t>().back(), 9);
  EXPECT_EQ(OutputOf(response, "span_end").numbers<int32_t>()[last.size() - 1],
            -1);
  Parameter(request, "stride").set_int64_param(-1);
  EXPECT_THAT(ErrorOf(request), HasSubstr("stride is set"));
  Parameter(request, "aggregation").set_string_param("first");
  EXPECT_THAT(ErrorOf(request), HasSubstr("stride is -1, must be in [0, 6)"));
  Parameter(request, "stride").set_int64_param(2);
  // [abcde</s>] and [defghi</s>], each in one span or more.
  EXPECT_GT(OutputOf(Infer(request), "source_tokens").numbers<int32_t>().back(),
            10);
  // There are no spans without an aggregation.
  Parameter(request, "aggregation").set_string_param("unspecified");
  EXPECT_EQ(ErrorOf(request),
            "parameter 'aggregation' is 'unspecified', must be one of none, "
            "simple, first, average, max");
}

TEST_F(InferTasksTest, Answer) {
  FixtureOptions options;
  options.engine.info.generates = false;
  options.engine.info.fills_masks = false;
  options.engine.info.embeds = false;
  options.engine.info.finds_spans = true;
  options.engine.info.max_text_tokens = 20;
  Build(options);
  v1::AnswerRequest twin;
  for (const auto& [question, context] :
       {std::pair("ab", "c d e"), std::pair("f", "g")}) {
    v1::Question& to = *twin.add_questions();
    to.set_question(question);
    to.set_context(context);
  }
  twin.set_top_k(2);
  const auto expected = Ask<v1::AnswerResponse>("Answer", twin);
  const v1::TextAnswer& second = expected.results(0).answers(1);
  InferRequest request;
  AddTexts(request, "question", {"ab", "f"});
  AddTexts(request, "context", {"c d e", "g"});
  Parameter(request, "top_k").set_int64_param(2);
  const InferResponse response = Infer(request);
  EXPECT_THAT(OutputOf(response, "span_count").numbers<int32_t>(),
              ElementsAre(2, expected.results(1).answers_size()));
  EXPECT_EQ(OutputOf(response, "text_output").texts()[1], second.text());
  EXPECT_EQ(OutputOf(response, "scores").numbers<float>()[1], second.score());
  EXPECT_EQ(OutputOf(response, "span_begin").numbers<int32_t>()[1],
            second.begin());
  EXPECT_EQ(OutputOf(response, "span_end").numbers<int32_t>()[1], second.end());

  *request.mutable_raw_input_contents(1) = RawTexts({"c d e", ""});
  EXPECT_THAT(ErrorOf(request), HasSubstr("context[1]"));
  *request.mutable_raw_input_contents(1) = RawTexts({"c"});
  request.mutable_inputs(1)->set_shape(0, 1);
  EXPECT_EQ(ErrorOf(request),
            "there are 2 questions and 1 contexts, must be as many");
}

TEST_F(InferTasksTest, FillMask) {
  Build({});
  v1::FillMaskRequest twin;
  twin.add_inputs()->set_text("a<mask>");
  twin.add_inputs()->set_text("<mask>b<mask>");
  twin.set_top_k(2);
  const auto expected = Ask<v1::FillMaskResponse>("FillMask", twin);
  InferRequest request = OfTask("fill_mask", {"a<mask>", "<mask>b<mask>"});
  Parameter(request, "top_k").set_int64_param(2);
  const InferResponse response = Infer(request);
  EXPECT_THAT(
      OutputOf(response, "text_output").texts(),
      ElementsAre(expected.results(0).text(), expected.results(1).text()));
  EXPECT_THAT(OutputOf(response, "token_count").numbers<int32_t>(),
              ElementsAre(1, 2));
  EXPECT_THAT(OutputOf(response, "token_begin").numbers<int32_t>(),
              ElementsAre(1, -1, 0, 7));
  const Output ids = OutputOf(response, "top_ids");
  EXPECT_THAT(ids.shape, ElementsAre(2, 2, 2));
  const auto candidate = [&](int input, int mask, int k) {
    return expected.results(input).masks(mask).candidates(k).token();
  };
  EXPECT_THAT(ids.numbers<int32_t>(),
              ElementsAre(candidate(0, 0, 0).id(), candidate(0, 0, 1).id(), -1,
                          -1, candidate(1, 0, 0).id(), candidate(1, 0, 1).id(),
                          candidate(1, 1, 0).id(), candidate(1, 1, 1).id()));
  EXPECT_EQ(OutputOf(response, "top_pieces").texts()[7],
            candidate(1, 1, 1).piece());
  EXPECT_EQ(OutputOf(response, "top_log_probs").numbers<float>()[5],
            candidate(1, 0, 1).log_prob());
}

TEST_F(InferTasksTest, Rerank) {
  Build(Classifier({"score"}, /*of_tokens=*/false));
  v1::RerankRequest twin;
  twin.set_query("q");
  for (const char* text : {"a", "bcd", "ef"}) twin.add_documents(text);
  twin.set_top_n(2);
  twin.set_return_documents(true);
  const auto expected = Ask<v1::RerankResponse>("Rerank", twin);
  InferRequest request;
  AddTexts(request, "documents", {"a", "bcd", "ef"});
  AddTexts(request, "query", {"q"});
  Parameter(request, "task").set_string_param("rerank");
  Parameter(request, "top_n").set_int64_param(2);
  Parameter(request, "return_documents").set_bool_param(true);
  const InferResponse response = Infer(request);
  EXPECT_THAT(
      OutputOf(response, "scores").numbers<float>(),
      ElementsAre(expected.results(0).score(), expected.results(1).score()));
  EXPECT_THAT(
      OutputOf(response, "document_index").numbers<int32_t>(),
      ElementsAre(expected.results(0).index(), expected.results(1).index()));
  EXPECT_THAT(OutputOf(response, "documents").texts(),
              ElementsAre(expected.results(0).document(),
                          expected.results(1).document()));
  request.mutable_inputs()->DeleteSubrange(0, 1);
  request.mutable_raw_input_contents()->DeleteSubrange(0, 1);
  EXPECT_EQ(ErrorOf(request), "there is no input 'documents'");
}

}  // namespace
}  // namespace attend
