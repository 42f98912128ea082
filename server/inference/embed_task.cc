#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/tensor/status_macros.h"
#include "server/inference/infer_task.h"
#include "server/inference/outcomes.h"
#include "server/inference/source_tokens.h"
#include "server/inference/sources.h"

namespace attend {
namespace {

using google::protobuf::Message;
using EmbedResults = google::protobuf::RepeatedPtrField<v1::EmbedResult>;

// FP32, or BF16 with the parameter `encoding`.
constexpr TensorSpec kVectors[] = {{"embedding", "FP32", kRows}};
constexpr TensorSpec kTokenVectors[] = {
    {"token_embedding", "FP32", kRows3},
};
// A task each. Sparse weights and multi-vectors are not tensors here.
constexpr absl::string_view kNoParameters[] = {"per_token", "kinds"};

absl::Status ReadEmbed(const Service& service, const ServedModel& model,
                       RequestReader& reader, Message& request) {
  ASSIGN_OR_RETURN(std::vector<v1::Input> inputs,
                   TakeSources(kSource, service, model, reader));
  auto& embed = static_cast<v1::EmbedRequest&>(request);
  embed.mutable_inputs()->Assign(inputs.begin(), inputs.end());
  // The form of raw contents. The parameter may say another one.
  embed.set_encoding(v1::EMBEDDING_FLOAT32);
  return absl::OkStatus();
}

absl::Status ReadForTokens(const Service& service, const ServedModel& model,
                           RequestReader& reader, Message& request) {
  static_cast<v1::EmbedRequest&>(request).set_per_token(true);
  return ReadEmbed(service, model, reader, request);
}

// The numbers of a result, in whatever form they are there.
std::string BytesOf(const v1::EmbedResult& result) {
  if (result.values().empty()) return result.data();
  return std::string(reinterpret_cast<const char*>(result.values().data()),
                     result.values().size() * sizeof(float));
}

// Vectors of all inputs, filled up with zeros to `bytes` each.
void WriteVectors(const EmbedResults& results, absl::string_view name,
                  Shape shape, OutputTensors& outputs) {
  std::vector<std::string> vectors;
  size_t longest = 0;
  for (const v1::EmbedResult& result : results) {
    vectors.push_back(BytesOf(result));
    longest = std::max(longest, vectors.back().size());
  }
  int64_t numbers = 1;
  for (int64_t size : shape) numbers *= size;
  std::string raw;
  raw.reserve(longest * vectors.size());
  for (const std::string& vector : vectors) {
    raw.append(vector).append(longest - vector.size(), '\0');
  }
  const bool halves = numbers > 0 && raw.size() == numbers * sizeof(uint16_t);
  outputs.AddRaw(name, halves ? "BF16" : "FP32", std::move(shape),
                 std::move(raw));
}

int64_t WidthOf(const EmbedResults& results) {
  int64_t width = 0;
  for (const v1::EmbedResult& result : results) {
    width = std::max<int64_t>(width, result.width());
  }
  return width;
}

void WriteEmbed(const Message& answer, OutputTensors& outputs) {
  const EmbedResults& results =
      static_cast<const v1::EmbedResponse&>(answer).results();
  WriteVectors(results, "embedding", {results.size(), WidthOf(results)},
               outputs);
  WriteOutcomes(results, outputs);
}

void WriteOfTokens(const Message& answer, OutputTensors& outputs) {
  const EmbedResults& results =
      static_cast<const v1::EmbedResponse&>(answer).results();
  SourceTokenRows rows;
  int64_t longest = 0;
  for (const v1::EmbedResult& result : results) {
    auto& row = rows.emplace_back();
    for (const v1::SourceToken& token : result.tokens()) row.push_back(&token);
    longest = std::max<int64_t>(longest, result.tokens_size());
  }
  WriteVectors(results, "token_embedding",
               {results.size(), longest, WidthOf(results)}, outputs);
  WriteSourceTokens(rows, outputs);
  WriteOutcomes(results, outputs);
}

}  // namespace

const InferTask& EmbedInferTask() {
  static const InferTask task = {
      .name = "embed",
      .request = v1::EmbedRequest::default_instance(),
      .inputs = {{kSourceInputs}},
      .outputs = {{kVectors}},
      .no_parameters = kNoParameters,
      .read = ReadEmbed,
      .make = NewEmbedHandler,
      .write = WriteEmbed,
      .check = CheckResults<v1::EmbedResponse>,
  };
  return task;
}

const InferTask& EmbedTokensInferTask() {
  static const InferTask task = {
      .name = "embed_tokens",
      .request = v1::EmbedRequest::default_instance(),
      .inputs = {{kSourceInputs}},
      .outputs = {{kTokenVectors}, {kSourceTokenTensors}},
      .no_parameters = kNoParameters,
      .read = ReadForTokens,
      .make = NewEmbedHandler,
      .write = WriteOfTokens,
      .check = CheckResults<v1::EmbedResponse>,
  };
  return task;
}

}  // namespace attend
