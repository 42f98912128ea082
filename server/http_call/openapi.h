#ifndef ATTEND_SERVER_HTTP_CALL_OPENAPI_H_
#define ATTEND_SERVER_HTTP_CALL_OPENAPI_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/http_call/http_api.h"

namespace attend {

// A GET route that belongs to no API.
struct PlainRoute {
  absl::string_view path, summary, answer_type;
};

// The description of all routes in OpenAPI 3.1, as JSON. `version`: that of the
// build.
std::string OpenApiText(absl::string_view version,
                        const std::vector<HttpApi>& apis,
                        const std::vector<PlainRoute>& plain);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CALL_OPENAPI_H_
