#ifndef ATTEND_SERVER_INFERENCE_REQUEST_READER_H_
#define ATTEND_SERVER_INFERENCE_REQUEST_READER_H_

#include <google/protobuf/message.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "inference/grpc_service.pb.h"
#include "server/inference/input_tensor.h"

namespace attend {

// Parameters that the protocol defines for all models.
struct ProtocolParameters {
  int priority = 0;  // as attend.v1 counts
  absl::Duration timeout = absl::InfiniteDuration();
  std::string task;            // empty: the model's first
  std::optional<bool> stream;  // of ModelStreamInfer
};

// The tensors and parameters of a request, each to be taken once. What nobody
// takes is an error. The request must outlive the reader.
class RequestReader {
 public:
  // INVALID_ARGUMENT names the tensor or the parameter, and what is wrong.
  static absl::StatusOr<RequestReader> Read(
      const inference::ModelInferRequest& request);

  const ProtocolParameters& protocol() const { return protocol_; }

  // Takes a tensor; null: there is none of that name, or `name` is empty.
  const InputTensor* Take(absl::string_view name);
  // Takes all that is left, and sets fields of `request`, a message of
  // attend.v1, and of its `params`: each parameter or tensor sets the field of
  // its name. A parameter holds for all inputs, so the rows of such a tensor
  // must be equal. INVALID_ARGUMENT if there is no such field, or it is one of
  // `except`.
  absl::Status TakeFields(absl::Span<const absl::string_view> except,
                          google::protobuf::Message& request);

 private:
  using Parameters =
      google::protobuf::Map<std::string, inference::InferParameter>;

  absl::Status ReadParameters(const Parameters& parameters);
  // False: the protocol does not define the parameter.
  absl::StatusOr<bool> ReadProtocolParameter(const std::string& name,
                                             const Value& value);

  ProtocolParameters protocol_;
  std::map<std::string, Value> parameters_;
  std::vector<std::pair<InputTensor, bool>> tensors_;  // and whether taken
};

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_REQUEST_READER_H_
