#ifndef ATTEND_CLIENT_CPP_LOAD_SERVER_VERSION_H_
#define ATTEND_CLIENT_CPP_LOAD_SERVER_VERSION_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/cpp/lib/client.h"

namespace attend {

// The name and version of the server ("attend 0.1.0"), as its Open Inference
// Protocol says; else the status of that call.
absl::StatusOr<std::string> ServerVersion(const ClientOptions& options);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_SERVER_VERSION_H_
