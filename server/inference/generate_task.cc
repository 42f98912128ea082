#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "engine/tensor/status_macros.h"
#include "server/inference/infer_task.h"
#include "server/inference/outcomes.h"
#include "server/inference/source_tokens.h"
#include "server/inference/sources.h"
#include "server/inference/token_tensors.h"

namespace attend {
namespace {

using google::protobuf::Message;

constexpr TensorSpec kGenerateInputs[] = {
    {"chat_input", "BYTES", kColumn, true},
};
constexpr TensorSpec kGenerateOutputs[] = {
    {"text_output", "BYTES", kRows},
    {"output_ids", "INT32", kRows3},
    {"output_lengths", "INT32", kRows},
    {"finish_reason", "BYTES", kRows},
    {"scores", "FP32", kRows},
    {"generated_tokens", "INT32", kColumn},
    {"seed", "UINT64", kColumn},
    {.name = "log_probs",
     .datatype = "FP32",
     .shape = kRows3,
     .needs = "log_probs"},
    {.name = "top_ids",
     .datatype = "INT32",
     .shape = kRows4,
     .needs = "top_log_probs"},
    {.name = "top_log_probs",
     .datatype = "FP32",
     .shape = kRows4,
     .needs = "top_log_probs"},
    {.name = "prompt_text",
     .datatype = "BYTES",
     .shape = kColumn,
     .needs = "echo"},
    {.name = "prompt_ids",
     .datatype = "INT32",
     .shape = kRows,
     .needs = "echo"},
    {.name = "prompt_log_probs",
     .datatype = "FP32",
     .shape = kRows,
     .needs = "prompt_log_probs"},
    {.name = "alignment",
     .datatype = "INT32",
     .shape = kRows3,
     .needs = "alignments"},
    {.name = "alignment_weights",
     .datatype = "FP32",
     .shape = kRows4,
     .needs = "alignments"},
    // Of parts: which input, and which of its results, the part is of.
    {.name = "batch_index",
     .datatype = "INT32",
     .shape = kColumn,
     .needs = "stream"},
    {.name = "sequence_index",
     .datatype = "INT32",
     .shape = kColumn,
     .needs = "stream"},
};

absl::Status ReadGenerate(const Service& service, const ServedModel& model,
                          RequestReader& reader, Message& request) {
  SourceTensors names = kSource;
  names.chat = "chat_input";
  ASSIGN_OR_RETURN(std::vector<v1::Input> inputs,
                   TakeSources(names, service, model, reader));
  auto& generate = static_cast<v1::GenerateRequest&>(request);
  generate.mutable_inputs()->Assign(inputs.begin(), inputs.end());
  return absl::OkStatus();
}

// "eos", "max_length", "stop_sequence"; empty: not ended.
std::string NameOf(v1::FinishReason reason) {
  if (reason == v1::FINISH_REASON_UNSPECIFIED) return "";
  return absl::AsciiStrToLower(
      absl::StripPrefix(v1::FinishReason_Name(reason), "FINISH_REASON_"));
}

using GenerateResults = google::protobuf::RepeatedPtrField<v1::GenerateResult>;

// Outputs with a value for each choice.
void WriteChoices(const GenerateResults& results, size_t choices,
                  OutputTensors& outputs) {
  std::vector<std::string> texts, reasons;
  std::vector<float> scores;
  const v1::Choice none;
  for (const v1::GenerateResult& result : results) {
    for (size_t c = 0; c < choices; ++c) {
      const bool there = c < static_cast<size_t>(result.choices_size());
      const v1::Choice& choice = there ? result.choices(c) : none;
      texts.push_back(choice.text());
      reasons.push_back(NameOf(choice.finish_reason()));
      scores.push_back(choice.score());
    }
  }
  const Shape shape = {results.size(), static_cast<int64_t>(choices)};
  outputs.Add("text_output", shape, texts);
  outputs.Add("finish_reason", shape, reasons);
  outputs.Add("scores", shape, scores);
}

// Outputs with a value for each token of each choice.
void WriteTokens(const GenerateResults& results, size_t choices,
                 OutputTensors& outputs) {
  std::vector<TokenRow> rows;
  const v1::Choice none;
  for (const v1::GenerateResult& result : results) {
    for (size_t c = 0; c < choices; ++c) {
      const bool there = c < static_cast<size_t>(result.choices_size());
      const v1::Choice& choice = there ? result.choices(c) : none;
      rows.push_back({choice.ids(), choice.log_probs(), choice.alignment()});
    }
  }
  WriteTokenRows(rows, {results.size(), static_cast<int64_t>(choices)},
                 {.ids = "output_ids",
                  .lengths = "output_lengths",
                  .log_probs = "log_probs",
                  .top_ids = "top_ids",
                  .top_log_probs = "top_log_probs",
                  .alignment = "alignment",
                  .alignment_weights = "alignment_weights"},
                 outputs);
}

void WritePrompts(const GenerateResults& results, OutputTensors& outputs) {
  std::vector<std::string> texts;
  std::vector<TokenRow> rows;
  for (const v1::GenerateResult& result : results) {
    texts.push_back(result.prompt().text());
    rows.push_back({result.prompt().ids(), result.prompt().log_probs()});
  }
  outputs.Add("prompt_text", {results.size(), 1}, texts);
  WriteTokenRows(rows, {results.size()},
                 {.ids = "prompt_ids", .log_probs = "prompt_log_probs"},
                 outputs);
}

void WriteResults(const GenerateResults& results, OutputTensors& outputs) {
  size_t choices = 0;
  std::vector<int32_t> generated;
  std::vector<uint64_t> seeds;
  for (const v1::GenerateResult& result : results) {
    choices = std::max(choices, static_cast<size_t>(result.choices_size()));
    generated.push_back(result.usage().generated_tokens());
    seeds.push_back(result.usage().seed());
  }
  WriteChoices(results, choices, outputs);
  WriteTokens(results, choices, outputs);
  WritePrompts(results, outputs);
  WriteAlignedSources(results, outputs);
  outputs.Add("generated_tokens", {results.size(), 1}, generated);
  outputs.Add("seed", {results.size(), 1}, seeds);
  WriteOutcomes(results, outputs);
}

void WriteGenerate(const Message& answer, OutputTensors& outputs) {
  WriteResults(static_cast<const v1::GenerateResponse&>(answer).results(),
               outputs);
}

// A part is the result of one input that has one choice.
void WritePart(const Message& answer, OutputTensors& outputs) {
  const auto& chunk = static_cast<const v1::GenerateChunk&>(answer);
  GenerateResults results;
  v1::GenerateResult& result = *results.Add();
  *result.mutable_status() = chunk.status();
  *result.mutable_usage() = chunk.usage();
  *result.mutable_prompt() = chunk.prompt();
  *result.mutable_source_tokens() = chunk.source_tokens();
  v1::Choice& choice = *result.add_choices();
  choice.set_text(chunk.text());
  *choice.mutable_ids() = chunk.ids();
  *choice.mutable_log_probs() = chunk.log_probs();
  choice.set_finish_reason(chunk.finish_reason());
  choice.set_score(chunk.score());
  *choice.mutable_alignment() = chunk.alignment();
  WriteResults(results, outputs);
  outputs.Add("batch_index", {1, 1}, std::vector<int32_t>{chunk.input()});
  outputs.Add("sequence_index", {1, 1}, std::vector<int32_t>{chunk.choice()});
}

absl::Status CheckPart(const Message& answer) {
  const auto& status = static_cast<const v1::GenerateChunk&>(answer).status();
  return absl::Status(static_cast<absl::StatusCode>(status.code()),
                      status.message());
}

}  // namespace

const InferTask& GenerateInferTask() {
  static const InferTask task = {
      .name = "generate",
      .request = v1::GenerateRequest::default_instance(),
      .inputs = {{kSourceInputs}, {kGenerateInputs}},
      .outputs = {{kGenerateOutputs}, {kSourceTokenTensors, "alignments"}},
      .read = ReadGenerate,
      .make = NewGenerateHandler,
      .write = WriteGenerate,
      .check = CheckResults<v1::GenerateResponse>,
      .make_stream = NewGenerateStreamHandler,
      .write_part = WritePart,
      .check_part = CheckPart,
  };
  return task;
}

}  // namespace attend
