#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/inference/infer_task.h"
#include "server/inference/outcomes.h"
#include "server/inference/sources.h"

namespace attend {
namespace {

using google::protobuf::Message;

constexpr TensorSpec kQuestions[] = {
    {"question", "BYTES", kColumn},
    {"context", "BYTES", kColumn},
};
constexpr TensorSpec kTexts[] = {{"text_input", "BYTES", kColumn}};
// Parts of a text; those of an answer with the highest scores first.
constexpr TensorSpec kSpans[] = {
    {"span_count", "INT32", kColumn}, {"text_output", "BYTES", kRows},
    {"scores", "FP32", kRows},        {"span_begin", "INT32", kRows},
    {"span_end", "INT32", kRows},
};
constexpr TensorSpec kLabels[] = {{"label", "BYTES", kRows}};

absl::Status ReadQuestions(const Service& service, const ServedModel&,
                           RequestReader& reader, Message& request) {
  ASSIGN_OR_RETURN(const std::vector<std::string> questions,
                   TakeTexts("question", service, reader));
  ASSIGN_OR_RETURN(const std::vector<std::string> contexts,
                   TakeTexts("context", service, reader));
  if (questions.size() != contexts.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("there are %d questions and %d contexts, must be as "
                        "many",
                        questions.size(), contexts.size()));
  }
  auto& answer = static_cast<v1::AnswerRequest&>(request);
  for (size_t i = 0; i < questions.size(); ++i) {
    v1::Question& question = *answer.add_questions();
    question.set_question(questions[i]);
    question.set_context(contexts[i]);
  }
  return absl::OkStatus();
}

absl::Status ReadTexts(const Service& service, const ServedModel&,
                       RequestReader& reader, Message& request) {
  ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                   TakeTexts("text_input", service, reader));
  auto& classify = static_cast<v1::ClassifyRequest&>(request);
  for (const std::string& text : texts) {
    classify.add_inputs()->set_text(text);
  }
  classify.set_aggregation(v1::AGGREGATION_SIMPLE);
  return absl::OkStatus();
}

// Writes kSpans, and returns the shape of the rows. `spans_of` has the spans of
// a result.
template <class Results, class SpansOf>
Shape WriteSpans(const Results& results, const SpansOf& spans_of,
                 OutputTensors& outputs) {
  int width = 0;
  std::vector<int32_t> counts;
  for (const auto& result : results) {
    counts.push_back(spans_of(result).size());
    width = std::max(width, counts.back());
  }
  PaddedRows<std::string> texts(results.size(), width, "");
  PaddedRows<float> scores(results.size(), width, 0);
  PaddedRows<int32_t> begins(results.size(), width, -1);
  PaddedRows<int32_t> ends(results.size(), width, -1);
  for (int r = 0; r < results.size(); ++r) {
    for (int i = 0; i < counts[r]; ++i) {
      const auto& span = spans_of(results[r])[i];
      texts.At(r, i) = span.text();
      scores.At(r, i) = span.score();
      begins.At(r, i) = span.begin();
      ends.At(r, i) = span.end();
    }
  }
  const Shape shape = {results.size(), width};
  outputs.Add("span_count", {results.size(), 1}, counts);
  outputs.Add("text_output", shape, texts.values());
  outputs.Add("scores", shape, scores.values());
  outputs.Add("span_begin", shape, begins.values());
  outputs.Add("span_end", shape, ends.values());
  WriteOutcomes(results, outputs);
  return shape;
}

void WriteAnswers(const Message& answer, OutputTensors& outputs) {
  WriteSpans(
      static_cast<const v1::AnswerResponse&>(answer).results(),
      [](const v1::AnswerResult& result) -> auto& { return result.answers(); },
      outputs);
}

void WriteLabelledSpans(const Message& answer, OutputTensors& outputs) {
  const auto& results =
      static_cast<const v1::ClassifyResponse&>(answer).results();
  const Shape shape = WriteSpans(
      results,
      [](const v1::ClassifyResult& result) -> auto& { return result.spans(); },
      outputs);
  PaddedRows<std::string> labels(shape[0], shape[1], "");
  for (int r = 0; r < results.size(); ++r) {
    for (int i = 0; i < results[r].spans_size(); ++i) {
      labels.At(r, i) = results[r].spans(i).label();
    }
  }
  outputs.Add("label", shape, labels.values());
}

}  // namespace

const InferTask& AnswerInferTask() {
  static const InferTask task = {
      .name = "answer",
      .request = v1::AnswerRequest::default_instance(),
      .inputs = {{kQuestions}},
      .outputs = {{kSpans}},
      .read = ReadQuestions,
      .make = NewAnswerHandler,
      .write = WriteAnswers,
      .check = CheckResults<v1::AnswerResponse>,
  };
  return task;
}

const InferTask& ClassifySpansInferTask() {
  static const InferTask task = {
      .name = "classify_spans",
      .request = v1::ClassifyRequest::default_instance(),
      .inputs = {{kTexts}},
      .outputs = {{kSpans}, {kLabels}},
      .read = ReadTexts,
      .make = NewClassifyHandler,
      .write = WriteLabelledSpans,
      .check = CheckResults<v1::ClassifyResponse>,
  };
  return task;
}

}  // namespace attend
