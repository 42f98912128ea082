#include "server/http/request_head.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/http/authority.h"
#include "server/http/request_target.h"

namespace attend {
namespace {

constexpr char kHost[] = "Host";
constexpr char kTransferEncoding[] = "Transfer-Encoding";

// The methods of RFC 9110 and RFC 5789, except CONNECT.
constexpr absl::string_view kKnownMethods[] = {
    "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"};

// The elements of all headers of this name, which is that of a list.
std::vector<absl::string_view> ElementsOf(const HttpRequest& request,
                                          absl::string_view name) {
  std::vector<absl::string_view> elements;
  for (const auto& [key, value] : request.headers) {
    if (!absl::EqualsIgnoreCase(key, name)) continue;
    for (const absl::string_view element : absl::StrSplit(value, ',')) {
      const absl::string_view text = absl::StripAsciiWhitespace(element);
      if (!text.empty()) elements.push_back(text);
    }
  }
  return elements;
}

bool Has(const std::vector<absl::string_view>& elements,
         absl::string_view wanted) {
  return std::any_of(elements.begin(), elements.end(),
                     [wanted](absl::string_view element) {
                       return absl::EqualsIgnoreCase(element, wanted);
                     });
}

size_t CountOf(const HttpRequest& request, absl::string_view name) {
  return std::count_if(request.headers.begin(), request.headers.end(),
                       [name](const auto& header) {
                         return absl::EqualsIgnoreCase(header.first, name);
                       });
}

// RFC 9112, 3.2.
HeadRefusal CheckHost(const HttpRequest& request) {
  const size_t count = CountOf(request, kHost);
  if (count > 1 || (count == 0 && request.version >= 11)) {
    return {400, "the request must have exactly one header Host"};
  }
  if (!ParseAuthority(request.Header(kHost).value_or(""))) {
    return {400, "Host must be a name or an address, and perhaps a port"};
  }
  return {};
}

// RFC 9112, 6.1 and 6.3. The parser refuses Content-Length beside
// Transfer-Encoding, and lengths that differ.
HeadRefusal CheckTransferEncoding(const HttpRequest& request) {
  if (CountOf(request, kTransferEncoding) == 0) return {};
  if (request.version < 11) {
    return {400, "HTTP/1.0 has no Transfer-Encoding"};
  }
  const std::vector<absl::string_view> codings =
      ElementsOf(request, kTransferEncoding);
  const auto is_chunked = [](absl::string_view coding) {
    return absl::EqualsIgnoreCase(coding, "chunked");
  };
  if (codings.empty() || !is_chunked(codings.back()) ||
      std::any_of(codings.begin(), codings.end() - 1, is_chunked)) {
    return {400, "Transfer-Encoding must end with chunked, which it has once"};
  }
  if (codings.size() > 1) return {501, "Transfer-Encoding must be chunked"};
  return {};
}

HeadRefusal CheckMethod(const HttpRequest& request) {
  if (std::find(std::begin(kKnownMethods), std::end(kKnownMethods),
                request.method) != std::end(kKnownMethods)) {
    return {};
  }
  return {501, "the method is not implemented"};
}

HeadRefusal CheckExpect(const HttpRequest& request) {
  for (const absl::string_view expectation : ElementsOf(request, "Expect")) {
    if (!absl::EqualsIgnoreCase(expectation, "100-continue")) {
      return {417, "Expect must be 100-continue"};
    }
  }
  return {};
}

}  // namespace

HeadRefusal CheckRequestHead(const HttpRequest& request) {
  for (const auto check :
       {CheckHost, CheckTransferEncoding, CheckMethod, CheckExpect}) {
    HeadRefusal refusal = check(request);
    if (refusal.status != 0) return refusal;
  }
  if (!ParseTarget(request.method, request.target)) {
    return {400, "the target must be a path or an http URI"};
  }
  return {};
}

bool ExpectsContinue(const HttpRequest& request) {
  // Of HTTP/1.0 the expectation is to be ignored.
  return request.version >= 11 &&
         Has(ElementsOf(request, "Expect"), "100-continue");
}

bool KeepsConnection(const HttpRequest& request) {
  const std::vector<absl::string_view> options =
      ElementsOf(request, "Connection");
  if (Has(options, "close")) return false;
  return request.version >= 11 || Has(options, "keep-alive");
}

}  // namespace attend
