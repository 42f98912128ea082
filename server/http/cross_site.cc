#include "server/http/cross_site.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "server/http/authority.h"

namespace attend {
namespace {

// RFC 9110, 9.2.1.
bool IsSafe(absl::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" ||
         method == "TRACE";
}

bool IsSentUnasked(absl::string_view content_type) {
  const absl::string_view type = absl::StripAsciiWhitespace(
      content_type.substr(0, content_type.find(';')));
  return type.empty() ||
         absl::EqualsIgnoreCase(type, "application/x-www-form-urlencoded") ||
         absl::EqualsIgnoreCase(type, "multipart/form-data") ||
         absl::EqualsIgnoreCase(type, "text/plain");
}

// A proxy in front may have ended TLS, so the scheme is not compared; it says
// which port an address without one means.
bool IsOrigin(absl::string_view origin, absl::string_view authority) {
  absl::string_view default_port = "80";
  if (absl::ConsumePrefix(&origin, "https://")) {
    default_port = "443";
  } else if (!absl::ConsumePrefix(&origin, "http://")) {
    return false;
  }
  const std::optional<Authority> of_page = ParseAuthority(origin);
  const std::optional<Authority> of_server = ParseAuthority(authority);
  const auto port_of = [default_port](const Authority& parsed) {
    return parsed.port.empty() ? default_port : parsed.port;
  };
  return of_page && of_server && of_page->host == of_server->host &&
         port_of(*of_page) == port_of(*of_server);
}

}  // namespace

bool IsForgeable(const HttpRequest& request,
                 const std::vector<std::string>& cors_origins) {
  const auto origin = request.Header("Origin");
  if (IsSafe(request.method) || !origin.has_value()) return false;
  const bool allowed = std::any_of(
      cors_origins.begin(), cors_origins.end(),
      [&](const std::string& each) { return each == "*" || each == *origin; });
  return !allowed && !request.Header("Authorization").has_value() &&
         IsSentUnasked(request.Header("Content-Type").value_or("")) &&
         !IsOrigin(*origin, request.authority);
}

}  // namespace attend
