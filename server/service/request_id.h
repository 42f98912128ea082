#ifndef ATTEND_SERVER_SERVICE_REQUEST_ID_H_
#define ATTEND_SERVER_SERVICE_REQUEST_ID_H_

#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// The key of a request id in the metadata of a call and of its answer.
inline constexpr char kRequestIdKey[] = "x-request-id";
inline constexpr size_t kMaxRequestIdBytes = 128;

// Returns `wanted` if it has 1 to 128 characters, all of them letters, digits
// or one of "._:/@+=-". Otherwise returns a new id, so that no client can forge
// a log line.
std::string ChooseRequestId(absl::string_view wanted);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_REQUEST_ID_H_
