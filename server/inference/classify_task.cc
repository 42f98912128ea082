#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/tensor/status_macros.h"
#include "server/inference/infer_task.h"
#include "server/inference/outcomes.h"
#include "server/inference/source_tokens.h"
#include "server/inference/sources.h"

namespace attend {
namespace {

using google::protobuf::Message;
using Labels = google::protobuf::RepeatedPtrField<v1::LabelScore>;

constexpr TensorSpec kPair[] = {{"text_pair", "BYTES", kColumn, true}};
// Labels with the highest scores first.
constexpr TensorSpec kClassifyOutputs[] = {
    {"scores", "FP32", kRows},
    {"label_index", "INT32", kRows},
    {"label", "BYTES", kRows},
};
constexpr TensorSpec kTokenOutputs[] = {
    {"scores", "FP32", kRows3},
    {"label_index", "INT32", kRows3},
    {"label", "BYTES", kRows3},
};

// The outputs are labels of texts or of tokens, not of spans.
constexpr absl::string_view kNoSpans[] = {"aggregation", "ignore_labels",
                                          "stride"};

absl::Status ReadClassify(const Service& service, const ServedModel& model,
                          RequestReader& reader, Message& request) {
  SourceTensors names = kSource;
  names.pair = "text_pair";
  ASSIGN_OR_RETURN(std::vector<v1::Input> inputs,
                   TakeSources(names, service, model, reader));
  auto& classify = static_cast<v1::ClassifyRequest&>(request);
  classify.mutable_inputs()->Assign(inputs.begin(), inputs.end());
  return absl::OkStatus();
}

// Writes the labels of some rows. `shape` is that of the rows.
void WriteLabels(const std::vector<const Labels*>& rows, Shape shape,
                 OutputTensors& outputs) {
  size_t width = 0;
  for (const Labels* row : rows) width = std::max<size_t>(width, row->size());
  PaddedRows<float> scores(rows.size(), width, 0);
  PaddedRows<int32_t> indices(rows.size(), width, -1);
  PaddedRows<std::string> labels(rows.size(), width, "");
  for (size_t r = 0; r < rows.size(); ++r) {
    for (int i = 0; i < rows[r]->size(); ++i) {
      scores.At(r, i) = (*rows[r])[i].score();
      indices.At(r, i) = (*rows[r])[i].index();
      labels.At(r, i) = (*rows[r])[i].label();
    }
  }
  shape.push_back(static_cast<int64_t>(width));
  outputs.Add("scores", shape, scores.values());
  outputs.Add("label_index", shape, indices.values());
  outputs.Add("label", shape, labels.values());
}

void WriteClassify(const Message& answer, OutputTensors& outputs) {
  const auto& results =
      static_cast<const v1::ClassifyResponse&>(answer).results();
  std::vector<const Labels*> rows;
  for (const v1::ClassifyResult& result : results) {
    rows.push_back(&result.labels());
  }
  WriteLabels(rows, {results.size()}, outputs);
  WriteOutcomes(results, outputs);
}

void WriteOfTokens(const Message& answer, OutputTensors& outputs) {
  const auto& results =
      static_cast<const v1::ClassifyResponse&>(answer).results();
  int longest = 0;
  for (const v1::ClassifyResult& result : results) {
    longest = std::max(longest, result.tokens_size());
  }
  const Labels none;
  std::vector<const Labels*> rows;
  SourceTokenRows tokens;
  for (const v1::ClassifyResult& result : results) {
    auto& row = tokens.emplace_back();
    for (const v1::TokenLabels& token : result.tokens()) {
      row.push_back(&token.token());
      rows.push_back(&token.labels());
    }
    rows.resize(longest * tokens.size(), &none);
  }
  WriteLabels(rows, {results.size(), longest}, outputs);
  WriteSourceTokens(tokens, outputs);
  WriteOutcomes(results, outputs);
}

}  // namespace

const InferTask& ClassifyInferTask() {
  static const InferTask task = {
      .name = "classify",
      .request = v1::ClassifyRequest::default_instance(),
      .inputs = {{kSourceInputs}, {kPair}},
      .outputs = {{kClassifyOutputs}},
      .no_parameters = kNoSpans,
      .read = ReadClassify,
      .make = NewClassifyHandler,
      .write = WriteClassify,
      .check = CheckResults<v1::ClassifyResponse>,
  };
  return task;
}

const InferTask& ClassifyTokensInferTask() {
  static const InferTask task = {
      .name = "classify_tokens",
      .request = v1::ClassifyRequest::default_instance(),
      .inputs = {{kSourceInputs}, {kPair}},
      .outputs = {{kTokenOutputs}, {kSourceTokenTensors}},
      .no_parameters = kNoSpans,
      .read = ReadClassify,
      .make = NewClassifyHandler,
      .write = WriteOfTokens,
      .check = CheckResults<v1::ClassifyResponse>,
  };
  return task;
}

}  // namespace attend
