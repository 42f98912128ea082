#ifndef ATTEND_SERVER_SERVICE_REQUEST_ID_H_
#define ATTEND_SERVER_SERVICE_REQUEST_ID_H_

#include <string>

#include "absl/strings/string_view.h"

namespace attend {

inline constexpr char kRequestIdKey[] = "x-request-id";
inline constexpr size_t kMaxRequestIdBytes = 128;

// `wanted` if it is 1 to 128 letters, digits or any of "._:/@+=-"; else a new
// one: what a client sends must not be able to shape a log line.
std::string ChooseRequestId(absl::string_view wanted);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_REQUEST_ID_H_
