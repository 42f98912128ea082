#include "server/inference/methods.h"

#include "inference/grpc_service.pb.h"

namespace attend {

std::vector<Method> InferenceMethods() {
  return BindMethods(
      *inference::ModelInferRequest::descriptor()->file()->FindServiceByName(
          "GRPCInferenceService"),
      kInferenceHandlers);
}

}  // namespace attend
