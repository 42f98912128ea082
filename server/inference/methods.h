#ifndef ATTEND_SERVER_INFERENCE_METHODS_H_
#define ATTEND_SERVER_INFERENCE_METHODS_H_

#include <vector>

#include "server/service/methods.h"

namespace attend {

MakeHandler NewServerLiveHandler;
MakeHandler NewServerReadyHandler;
MakeHandler NewModelReadyHandler;
MakeHandler NewServerMetadataHandler;
MakeHandler NewModelMetadataHandler;
MakeHandler NewModelInferHandler;
MakeHandler NewModelStreamInferHandler;
MakeHandler NewModelConfigHandler;
MakeHandler NewModelStatisticsHandler;
MakeHandler NewRepositoryIndexHandler;
MakeHandler NewRepositoryModelLoadHandler;
MakeHandler NewRepositoryModelUnloadHandler;

// The methods of inference.GRPCInferenceService. Beside the proto file this is
// the only list of them.
inline constexpr NamedHandler kInferenceHandlers[] = {
    {"ServerLive", NewServerLiveHandler},
    {"ServerReady", NewServerReadyHandler},
    {"ModelReady", NewModelReadyHandler},
    {"ServerMetadata", NewServerMetadataHandler},
    {"ModelMetadata", NewModelMetadataHandler},
    {"ModelInfer", NewModelInferHandler},
    {"ModelStreamInfer", NewModelStreamInferHandler, "triton_grpc_error"},
    {"ModelConfig", NewModelConfigHandler},
    {"ModelStatistics", NewModelStatisticsHandler},
    {"RepositoryIndex", NewRepositoryIndexHandler},
    {"RepositoryModelLoad", NewRepositoryModelLoadHandler},
    {"RepositoryModelUnload", NewRepositoryModelUnloadHandler},
};
// All methods of inference.GRPCInferenceService.
std::vector<Method> InferenceMethods();

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_METHODS_H_
