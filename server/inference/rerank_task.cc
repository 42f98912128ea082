#include <cstdint>
#include <string>
#include <vector>

#include "engine/tensor/status_macros.h"
#include "server/inference/infer_task.h"
#include "server/inference/outcomes.h"
#include "server/inference/sources.h"

namespace attend {
namespace {

using google::protobuf::Message;

// `query` is a parameter, too: it holds for all documents.
constexpr TensorSpec kRerankInputs[] = {
    {"query", "BYTES", kColumn},
    {"documents", "BYTES", kColumn},
};
// Documents with the highest scores first.
constexpr TensorSpec kRerankOutputs[] = {
    {"scores", "FP32", kColumn},
    {"document_index", "INT32", kColumn},
    {.name = "documents",
     .datatype = "BYTES",
     .shape = kColumn,
     .needs = "return_documents"},
};

absl::Status ReadRerank(const Service& service, const ServedModel&,
                        RequestReader& reader, Message& request) {
  ASSIGN_OR_RETURN(const std::vector<std::string> documents,
                   TakeTexts("documents", service, reader));
  auto& rerank = static_cast<v1::RerankRequest&>(request);
  rerank.mutable_documents()->Assign(documents.begin(), documents.end());
  return absl::OkStatus();
}

void WriteRerank(const Message& answer, OutputTensors& outputs) {
  const auto& results =
      static_cast<const v1::RerankResponse&>(answer).results();
  std::vector<float> scores;
  std::vector<int32_t> indices;
  std::vector<std::string> documents;
  for (const v1::RerankResult& result : results) {
    scores.push_back(result.score());
    indices.push_back(result.index());
    documents.push_back(result.document());
  }
  const Shape column = {results.size(), 1};
  outputs.Add("scores", column, scores);
  outputs.Add("document_index", column, indices);
  outputs.Add("documents", column, documents);
  WriteOutcomes(results, outputs);
}

}  // namespace

const InferTask& RerankInferTask() {
  static const InferTask task = {
      .name = "rerank",
      .request = v1::RerankRequest::default_instance(),
      .inputs = {{kRerankInputs}},
      .outputs = {{kRerankOutputs}},
      .read = ReadRerank,
      .make = NewRerankHandler,
      .write = WriteRerank,
      .check = CheckResults<v1::RerankResponse>,
  };
  return task;
}

}  // namespace attend
