#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/tensor/status_macros.h"
#include "server/inference/infer_task.h"
#include "server/inference/outcomes.h"
#include "server/inference/source_tokens.h"
#include "server/inference/sources.h"
#include "server/inference/token_tensors.h"

namespace attend {
namespace {

using google::protobuf::Message;

// The tokens that are shown are the masks.
constexpr TensorSpec kFillMaskOutputs[] = {
    {"text_output", "BYTES", kColumn},
    {"top_ids", "INT32", kRows3},
    {"top_log_probs", "FP32", kRows3},
    {"top_pieces", "BYTES", kRows3},
};

absl::Status ReadFillMask(const Service& service, const ServedModel& model,
                          RequestReader& reader, Message& request) {
  ASSIGN_OR_RETURN(std::vector<v1::Input> inputs,
                   TakeSources(kSource, service, model, reader));
  auto& fill_mask = static_cast<v1::FillMaskRequest&>(request);
  fill_mask.mutable_inputs()->Assign(inputs.begin(), inputs.end());
  return absl::OkStatus();
}

using FillMaskResults = google::protobuf::RepeatedPtrField<v1::FillMaskResult>;

void WriteCandidates(const FillMaskResults& results, OutputTensors& outputs) {
  size_t masks = 0;
  size_t top = 0;
  for (const v1::FillMaskResult& result : results) {
    masks = std::max<size_t>(masks, result.masks_size());
    for (const v1::FilledMask& mask : result.masks()) {
      top = std::max<size_t>(top, mask.candidates_size());
    }
  }
  PaddedRows<int32_t> ids(results.size(), masks * top, kNoId);
  PaddedRows<float> log_probs(results.size(), masks * top, 0);
  PaddedRows<std::string> pieces(results.size(), masks * top, "");
  for (int r = 0; r < results.size(); ++r) {
    for (int m = 0; m < results[r].masks_size(); ++m) {
      const v1::FilledMask& mask = results[r].masks(m);
      for (int k = 0; k < mask.candidates_size(); ++k) {
        const v1::TokenLogProb& token = mask.candidates(k).token();
        ids.At(r, m * top + k) = token.id();
        log_probs.At(r, m * top + k) = token.log_prob();
        pieces.At(r, m * top + k) = token.piece();
      }
    }
  }
  const Shape shape = {results.size(), static_cast<int64_t>(masks),
                       static_cast<int64_t>(top)};
  outputs.Add("top_ids", shape, ids.values());
  outputs.Add("top_log_probs", shape, log_probs.values());
  outputs.Add("top_pieces", shape, pieces.values());
}

void WriteFillMask(const Message& answer, OutputTensors& outputs) {
  const FillMaskResults& results =
      static_cast<const v1::FillMaskResponse&>(answer).results();
  std::vector<std::string> texts;
  SourceTokenRows masks;
  for (const v1::FillMaskResult& result : results) {
    texts.push_back(result.text());
    auto& row = masks.emplace_back();
    for (const v1::FilledMask& mask : result.masks()) {
      row.push_back(&mask.token());
    }
  }
  outputs.Add("text_output", {results.size(), 1}, texts);
  WriteCandidates(results, outputs);
  WriteSourceTokens(masks, outputs);
  WriteOutcomes(results, outputs);
}

}  // namespace

const InferTask& FillMaskInferTask() {
  static const InferTask task = {
      .name = "fill_mask",
      .request = v1::FillMaskRequest::default_instance(),
      .inputs = {{kSourceInputs}},
      .outputs = {{kFillMaskOutputs}, {kSourceTokenTensors}},
      .read = ReadFillMask,
      .make = NewFillMaskHandler,
      .write = WriteFillMask,
      .check = CheckResults<v1::FillMaskResponse>,
  };
  return task;
}

}  // namespace attend
