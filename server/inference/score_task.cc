#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/inference/infer_task.h"
#include "server/inference/outcomes.h"
#include "server/inference/source_tokens.h"
#include "server/inference/sources.h"
#include "server/inference/token_tensors.h"

namespace attend {
namespace {

using google::protobuf::Message;

constexpr SourceTensors kTarget = {.text = "target_text",
                                   .ids = "target_ids",
                                   .lengths = "target_lengths",
                                   .mask = "",
                                   .types = "",
                                   .pair = "",
                                   .chat = ""};

constexpr TensorSpec kScoreInputs[] = {
    {"chat_input", "BYTES", kColumn, true},
    {"target_text", "BYTES", kColumn},
    {"target_ids", "INT32", kRows, true},
    {"target_lengths", "INT32", kColumn, true},
};
constexpr TensorSpec kScoreOutputs[] = {
    {"scores", "FP64", kColumn},
    {"output_ids", "INT32", kRows},
    {"output_lengths", "INT32", kColumn},
    {"log_probs", "FP32", kRows},
    {.name = "top_ids",
     .datatype = "INT32",
     .shape = kRows3,
     .needs = "top_log_probs"},
    {.name = "top_log_probs",
     .datatype = "FP32",
     .shape = kRows3,
     .needs = "top_log_probs"},
    {.name = "alignment",
     .datatype = "INT32",
     .shape = kRows,
     .needs = "alignments"},
    {.name = "alignment_weights",
     .datatype = "FP32",
     .shape = kRows3,
     .needs = "alignments"},
};

absl::Status ReadScore(const Service& service, const ServedModel& model,
                       RequestReader& reader, Message& request) {
  SourceTensors names = kSource;
  names.chat = "chat_input";
  ASSIGN_OR_RETURN(std::vector<v1::Input> sources,
                   TakeSources(names, service, model, reader));
  ASSIGN_OR_RETURN(std::vector<v1::Input> targets,
                   TakeSources(kTarget, service, model, reader));
  if (sources.size() != targets.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("there are %d sources and %d targets, must be as many",
                        sources.size(), targets.size()));
  }
  auto& score = static_cast<v1::ScoreRequest&>(request);
  for (size_t i = 0; i < sources.size(); ++i) {
    v1::ScorePair& pair = *score.add_pairs();
    *pair.mutable_source() = std::move(sources[i]);
    *pair.mutable_target() = std::move(targets[i]);
  }
  return absl::OkStatus();
}

void WriteScore(const Message& answer, OutputTensors& outputs) {
  const auto& results = static_cast<const v1::ScoreResponse&>(answer).results();
  std::vector<double> scores;
  std::vector<google::protobuf::RepeatedField<int32_t>> ids(results.size());
  std::vector<TokenRow> rows;
  for (int i = 0; i < results.size(); ++i) {
    scores.push_back(results[i].log_prob());
    for (const v1::TokenLogProbs& token : results[i].tokens()) {
      ids[i].Add(token.token().id());
    }
    rows.push_back({ids[i], results[i].tokens(), results[i].alignment()});
  }
  outputs.Add("scores", {results.size(), 1}, scores);
  WriteTokenRows(rows, {results.size()},
                 {.ids = "output_ids",
                  .lengths = "output_lengths",
                  .log_probs = "log_probs",
                  .top_ids = "top_ids",
                  .top_log_probs = "top_log_probs",
                  .alignment = "alignment",
                  .alignment_weights = "alignment_weights"},
                 outputs);
  WriteAlignedSources(results, outputs);
  WriteOutcomes(results, outputs);
}

}  // namespace

const InferTask& ScoreInferTask() {
  static const InferTask task = {
      .name = "score",
      .request = v1::ScoreRequest::default_instance(),
      .inputs = {{kSourceInputs}, {kScoreInputs}},
      .outputs = {{kScoreOutputs}, {kSourceTokenTensors, "alignments"}},
      .read = ReadScore,
      .make = NewScoreHandler,
      .write = WriteScore,
      .check = CheckResults<v1::ScoreResponse>,
  };
  return task;
}

}  // namespace attend
