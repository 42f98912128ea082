#ifndef ATTEND_SERVER_HTTP_CALL_HTTP_STATUS_H_
#define ATTEND_SERVER_HTTP_CALL_HTTP_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"
#include "server/http/http_message.h"

namespace attend {

// The payload of an error that one field of a request has caused: the name of
// the field, as the client wrote it.
inline constexpr char kFieldUrl[] = "attend/field";

// INVALID_ARGUMENT "<field> <problem>", with the field as payload.
absl::Status FieldError(absl::string_view field, absl::string_view problem);
// The payload; empty: none.
std::string FieldOf(const absl::Status& status);

// The status of an input of attend.v1, as that of a call.
absl::Status FailureOf(const v1::Status& status);

// The status of an HTTP answer. Not for OK.
int ToHttpStatus(const absl::Status& status);
// The code that a refusal by the HTTP port itself counts as in the metrics.
absl::StatusCode FromHttpStatus(int status);

// The headers of a status: Retry-After, if the client may come again.
HttpHeaders StatusHeaders(const absl::Status& status);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CALL_HTTP_STATUS_H_
