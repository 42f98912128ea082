#include "client/cpp/top/http_get.h"

#include <curl/curl.h>

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace attend {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;

// libcurl's function for what has come: `body` grows, or the transfer ends.
size_t Append(char* bytes, size_t size, size_t count, void* body) {
  std::string& text = *static_cast<std::string*>(body);
  if (size * count > kMostBytes - text.size()) return CURL_WRITEFUNC_ERROR;
  text.append(bytes, size * count);
  return size * count;
}

absl::Status ErrorOf(CURLcode code, const char* words,
                     const HttpGetOptions& options) {
  if (code == CURLE_WRITE_ERROR) {
    return absl::UnavailableError(
        absl::StrCat(options.url, ": the answer is longer than its limit of ",
                     kMostBytes, " bytes"));
  }
  const std::string text = absl::StrCat(
      options.url, ": ", *words == '\0' ? curl_easy_strerror(code) : words);
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_SSL_CACERT_BADFILE:
      return absl::InvalidArgumentError(text);
    default:
      return absl::UnavailableError(text);
  }
}

// The same for every request: what is spoken, and to whom.
void SetTransport(CURL* curl, const HttpGetOptions& options) {
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "attend");
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                   static_cast<long>(  // NOLINT(runtime/int): libcurl's type
                       absl::ToInt64Milliseconds(options.timeout)));
  if (!options.ca.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, options.ca.c_str());
  }
  if (!options.token.empty()) {
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, options.token.c_str());
  }
}

}  // namespace

absl::StatusOr<std::string> HttpGetBody(const HttpGetOptions& options) {
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(),
                                                    curl_easy_cleanup);
  const std::unique_ptr<CURLU, void (*)(CURLU*)> url(curl_url(),
                                                     curl_url_cleanup);
  if (curl == nullptr || url == nullptr) {
    return absl::ResourceExhaustedError("no memory for a request over HTTP");
  }
  // A URL that is given whole has no scheme that must be guessed.
  const CURLUcode wrong =
      curl_url_set(url.get(), CURLUPART_URL, options.url.c_str(), 0);
  if (wrong != CURLUE_OK) {
    return absl::InvalidArgumentError(
        absl::StrCat("URL '", options.url, "': ", curl_url_strerror(wrong),
                     "; it begins with http:// or https://"));
  }
  char words[CURL_ERROR_SIZE] = "";
  std::string body;
  SetTransport(curl.get(), options);
  curl_easy_setopt(curl.get(), CURLOPT_CURLU, url.get());
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, words);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, Append);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &body);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) return ErrorOf(code, words, options);
  long status = 0;  // NOLINT(runtime/int): libcurl's type
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status == 200) return body;
  const std::string text = absl::StrCat(options.url, ": status ", status);
  return status == 401 ? absl::UnauthenticatedError(text)
                       : absl::UnknownError(text);
}

}  // namespace attend
