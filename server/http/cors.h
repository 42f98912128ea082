#ifndef ATTEND_SERVER_HTTP_CORS_H_
#define ATTEND_SERVER_HTTP_CORS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/http/http_message.h"

namespace attend {

// OK if each origin is "*" or such as "https://app.example": a scheme and a
// host, perhaps a port, and no path.
absl::Status CheckCorsOrigins(const std::vector<std::string>& origins);

// The headers by which a browser lets pages of other origins read an answer to
// `request`. `origins`: whose pages may; "*": all. Empty: the answer is for no
// page of another origin.
HttpHeaders CorsHeaders(const std::vector<std::string>& origins,
                        const HttpRequest& request);

// Whether a browser asks if a page may send a request.
bool IsPreflight(const HttpRequest& request);
// The answer to that; `methods` is the list of methods that the path has.
HttpResponse PreflightAnswer(std::string methods);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CORS_H_
