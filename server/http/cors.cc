#include "server/http/cors.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

bool IsOrigin(absl::string_view text) {
  if (text == "*") return true;
  if (!absl::ConsumePrefix(&text, "https://") &&
      !absl::ConsumePrefix(&text, "http://")) {
    return false;
  }
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '/' && c != '*' && c != ',';
  });
}

}  // namespace

absl::Status CheckCorsOrigins(const std::vector<std::string>& origins) {
  for (const std::string& origin : origins) {
    if (IsOrigin(origin)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("http_cors_origins has '", origin,
                     "', must be * or such as https://app.example"));
  }
  return absl::OkStatus();
}

HttpHeaders CorsHeaders(const std::vector<std::string>& origins,
                        const HttpRequest& request) {
  const std::string origin(request.Header("Origin").value_or(""));
  if (origins.empty() || origin.empty()) return {};
  for (const std::string& allowed : origins) {
    if (allowed != "*" && allowed != origin) continue;
    return {{"Access-Control-Allow-Origin", allowed},
            {"Access-Control-Expose-Headers",
             "X-Request-Id, Retry-After, Retry-After-Ms"},
            {"Vary", "Origin"}};
  }
  return {{"Vary", "Origin"}};
}

bool IsPreflight(const HttpRequest& request) {
  return request.method == "OPTIONS" &&
         request.Header("Access-Control-Request-Method").has_value();
}

// The star means all headers but Authorization.
HttpResponse PreflightAnswer(std::string methods) {
  return {.status = 200,
          .headers = {{"Access-Control-Allow-Methods", std::move(methods)},
                      {"Access-Control-Allow-Headers", "*, Authorization"},
                      {"Access-Control-Max-Age", "600"}}};
}

}  // namespace attend
