#ifndef ATTEND_SERVER_INFERENCE_INFER_TASK_H_
#define ATTEND_SERVER_INFERENCE_INFER_TASK_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "attend/v1/attend.pb.h"
#include "server/inference/output_tensors.h"
#include "server/inference/request_reader.h"
#include "server/service/methods.h"
#include "server/service/service.h"

namespace attend {

// Sizes that are known before a request; -1: any size. The first is always the
// number of inputs.
inline constexpr int64_t kColumn[] = {-1, 1};
inline constexpr int64_t kRows[] = {-1, -1};
inline constexpr int64_t kRows3[] = {-1, -1, -1};
inline constexpr int64_t kRows4[] = {-1, -1, -1, -1};

// A tensor that a task takes or gives.
struct TensorSpec {
  absl::string_view name;
  absl::string_view datatype;
  absl::Span<const int64_t> shape;
  // Of an input: a request may leave it out.
  bool optional = false;
  // Of an output: the parameter without which there is no such output. Empty:
  // there always is.
  absl::string_view needs = {};
  // Of an output: a request has it only if it names it.
  bool only_named = false;
};

// Tensors that several tasks have.
struct TensorGroup {
  absl::Span<const TensorSpec> tensors;
  absl::string_view needs = {};  // in place of that of the tensors
};

// A source of each input: a text, or ids and what goes with them.
inline constexpr TensorSpec kSourceInputs[] = {
    {"text_input", "BYTES", kColumn},
    {"input_ids", "INT32", kRows, true},
    {"sequence_lengths", "INT32", kColumn, true},
    {"attention_mask", "INT32", kRows, true},
    {"token_type_ids", "INT32", kRows, true},
};
// What all tasks tell of each input. A request that names one of the last two
// is told there of inputs that failed; another request then fails as a whole.
inline constexpr TensorSpec kOutcomeTensors[] = {
    {.name = "source_tokens", .datatype = "INT32", .shape = kColumn},
    {.name = "truncated", .datatype = "BOOL", .shape = kColumn},
    {.name = "status_code",
     .datatype = "INT32",
     .shape = kColumn,
     .only_named = true},
    {.name = "status_message",
     .datatype = "BYTES",
     .shape = kColumn,
     .only_named = true},
};

// What a model can be asked for, and how tensors become a request of attend.v1
// and its answer tensors. Each task has a file.
struct InferTask {
  using ReadInputs = absl::Status(const Service& service,
                                  const ServedModel& model,
                                  RequestReader& reader,
                                  google::protobuf::Message& request);
  using WriteOutputs = void(const google::protobuf::Message& answer,
                            OutputTensors& outputs);
  using CheckAnswer = absl::Status(const google::protobuf::Message& answer);

  absl::string_view name;
  const google::protobuf::Message& request;  // empty, of the task's type
  std::vector<TensorGroup> inputs;
  std::vector<TensorGroup> outputs;  // beside kOutcomeTensors
  // Fields of the request that a parameter may not set.
  absl::Span<const absl::string_view> no_parameters = {};

  // Fills what is no parameter: the inputs.
  ReadInputs* read;
  MakeHandler* make;
  WriteOutputs* write;
  // OK, or why an input failed.
  CheckAnswer* check;

  // The same for answers in parts; null: there is one answer.
  MakeHandler* make_stream = nullptr;
  WriteOutputs* write_part = nullptr;
  CheckAnswer* check_part = nullptr;
};

// All inputs and outputs of a task.
std::vector<TensorSpec> InputsOf(const InferTask& task);
std::vector<TensorSpec> OutputsOf(const InferTask& task);

// The tasks of a model. The first is that of requests without the parameter
// `task`.
std::vector<const InferTask*> InferTasksOf(const ServedModel& model);

const InferTask& GenerateInferTask();
const InferTask& ScoreInferTask();
const InferTask& EmbedInferTask();
const InferTask& EmbedTokensInferTask();
const InferTask& ClassifyInferTask();
const InferTask& ClassifyTokensInferTask();
const InferTask& ClassifySpansInferTask();
const InferTask& AnswerInferTask();
const InferTask& FillMaskInferTask();
const InferTask& RerankInferTask();

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_INFER_TASK_H_
