#ifndef ATTEND_SERVER_INFERENCE_INFER_PLAN_H_
#define ATTEND_SERVER_INFERENCE_INFER_PLAN_H_

#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "inference/grpc_service.pb.h"
#include "server/inference/infer_task.h"
#include "server/service/service.h"

namespace attend {

// What is to be done for one request.
struct InferPlan {
  const InferTask* task = nullptr;
  std::unique_ptr<google::protobuf::Message> request;  // of attend.v1
  std::vector<std::string> outputs;  // the names of those that are wanted
  bool in_parts = false;             // more than one response
  bool tells_status = false;         // of inputs that fail, as outputs
  absl::Duration timeout = absl::InfiniteDuration();
};

// Reads a request for a model. With `streaming` there may be more than one
// response. INVALID_ARGUMENT names the tensor or parameter, its value and the
// limit.
absl::StatusOr<InferPlan> MakeInferPlan(
    const inference::ModelInferRequest& request, const Service& service,
    const ServedModel& model, bool streaming);

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_INFER_PLAN_H_
