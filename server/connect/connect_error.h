#ifndef ATTEND_SERVER_CONNECT_CONNECT_ERROR_H_
#define ATTEND_SERVER_CONNECT_CONNECT_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "server/http_call/http_api.h"

namespace attend {

// {"code", "message", "details"}. The details are google.rpc.RetryInfo, if the
// client may come again.
HttpErrorBody ConnectError(const absl::Status& status, int http_status);

// The HTTP status that the protocol has for the code of an error; 415 for one
// of the header Content-Type.
int ConnectHttpStatus(const absl::Status& status);

// The payload of the last envelope of a stream.
std::string EndOfStream(const absl::Status& status);

}  // namespace attend

#endif  // ATTEND_SERVER_CONNECT_CONNECT_ERROR_H_
