#ifndef ATTEND_SERVER_INFERENCE_OUTCOMES_H_
#define ATTEND_SERVER_INFERENCE_OUTCOMES_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/inference/field_names.h"
#include "server/inference/infer_task.h"
#include "server/inference/output_tensors.h"

namespace attend {

// Writes kOutcomeTensors. `results` are those of an answer of attend.v1.
template <class Results>
void WriteOutcomes(const Results& results, OutputTensors& outputs) {
  std::vector<int32_t> source_tokens, codes;
  std::vector<uint8_t> truncated;
  std::vector<std::string> messages;
  for (const auto& result : results) {
    source_tokens.push_back(result.usage().source_tokens());
    truncated.push_back(result.usage().truncated());
    codes.push_back(result.status().code());
    messages.push_back(WithTensorNames(result.status().message()));
  }
  const Shape column = {results.size(), 1};
  outputs.Add("source_tokens", column, source_tokens);
  outputs.Add("truncated", column, truncated);
  outputs.Add("status_code", column, codes);
  outputs.Add("status_message", column, messages);
}

// OK, or why the first input that failed did so.
template <class Response>
absl::Status CheckResults(const google::protobuf::Message& answer) {
  for (const auto& result : static_cast<const Response&>(answer).results()) {
    if (result.status().code() == 0) continue;
    return absl::Status(static_cast<absl::StatusCode>(result.status().code()),
                        result.status().message());
  }
  return absl::OkStatus();
}

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_OUTCOMES_H_
