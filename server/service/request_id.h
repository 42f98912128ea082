#ifndef ATTEND_SERVER_SERVICE_REQUEST_ID_H_
#define ATTEND_SERVER_SERVICE_REQUEST_ID_H_

#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// The key of a request id in the metadata of a call and of its answer.
inline constexpr char kRequestIdKey[] = "x-request-id";
inline constexpr size_t kMaxRequestIdBytes = 128;

// `wanted`, if it has 1 to 128 characters and all are letters, digits or any of
// "._:/@+=-". Otherwise a new id: no client may shape a log line.
std::string ChooseRequestId(absl::string_view wanted);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_REQUEST_ID_H_
