#include "server/app/health_check.h"

#include <curl/curl.h>

#include <cstddef>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

constexpr long kTimeoutMillis = 5000;  // NOLINT(runtime/int): libcurl's type

// Where a server that listens on `host` is reached from its own machine.
std::string ReachableHost(const std::string& host) {
  if (host.empty() || host == "0.0.0.0" || host == "::" || host == "[::]") {
    return "localhost";
  }
  const bool bare = absl::StrContains(host, ':') && host.front() != '[';
  return bare ? absl::StrCat("[", host, "]") : host;
}

// libcurl's function for the body: the status says enough.
size_t Ignore(char*, size_t size, size_t count, void*) { return size * count; }

}  // namespace

absl::Status CheckHealth(const HttpOptions& options, const char* path,
                         const char* key) {
  const std::string url =
      absl::StrCat(options.tls ? "https://" : "http://",
                   ReachableHost(options.host), ":", options.port, path);
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(),
                                                    curl_easy_cleanup);
  if (curl == nullptr) {
    return absl::ResourceExhaustedError("no memory for a request over HTTP");
  }
  char words[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, words);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_PROXY, "");
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, kTimeoutMillis);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, Ignore);
  // The certificate has the name by which clients know the server, and neither
  // the question nor the answer is a secret.
  curl_easy_setopt(curl.get(), CURLOPT_SSL_VERIFYPEER, 0L);
  curl_easy_setopt(curl.get(), CURLOPT_SSL_VERIFYHOST, 0L);
  if (*key != '\0') {
    curl_easy_setopt(curl.get(), CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    curl_easy_setopt(curl.get(), CURLOPT_XOAUTH2_BEARER, key);
  }
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) {
    return absl::UnavailableError(absl::StrCat(
        url, ": ", *words == '\0' ? curl_easy_strerror(code) : words));
  }
  long status = 0;  // NOLINT(runtime/int): libcurl's type
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status == 200) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(url, ": status ", status, ", must be 200"));
}

}  // namespace attend
