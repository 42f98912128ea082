#ifndef ATTEND_SERVER_HTTP_CALL_HTTP_API_H_
#define ATTEND_SERVER_HTTP_CALL_HTTP_API_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/http_call/http_status.h"
#include "server/http_call/http_translator.h"
#include "server/http_call/json_fields.h"

namespace attend {

// A route of an API whose requests are calls.
struct HttpMethod {
  absl::string_view verb;  // "GET" or "POST"
  // As HttpRouter::Add() takes it. It is the name of the method in metrics and
  // log lines, too.
  std::string path;
  std::function<std::unique_ptr<HttpTranslator>()> make;
  // For /openapi.json: what the route does, and the fields of the body of a
  // POST.
  absl::string_view summary = {};
  std::vector<FieldHelp> (*fields)() = nullptr;
  bool streams = false;  // a body may ask for server-sent events
};

// The body of an error, as an API writes it.
struct HttpErrorBody {
  std::string type = "application/json";
  std::string text;
};

// An API over HTTP. Several may share a port.
struct HttpApi {
  std::vector<HttpMethod> methods;
  // `http_status` is the status of the answer. `status` may have the payload
  // kFieldUrl.
  HttpErrorBody (*error)(const absl::Status& status, int http_status);
  // The HTTP status of an error.
  int (*http_status)(const absl::Status& status) = ToHttpStatus;
  // Paths that have no route, but begin like this, are refused as those of the
  // API are.
  std::vector<absl::string_view> prefixes;
};

// The names of all methods, in metrics and log lines: those of gRPC's
// protocols, and the paths of `apis`.
std::vector<std::string> AllMethodNames(const std::vector<Method>& methods,
                                        const std::vector<HttpApi>& apis);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CALL_HTTP_API_H_
