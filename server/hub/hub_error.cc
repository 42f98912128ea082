#include "server/hub/hub_error.h"

#include <curl/curl.h>

#include "absl/strings/str_cat.h"

namespace attend {

std::string HubAnswer::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string WithoutQuery(const std::string& url) {
  return url.substr(0, url.find('?'));
}

absl::Status HubTransferError(int code, const char* words,
                              const std::string& url, absl::Duration timeout) {
  const std::string text = absl::StrCat(
      WithoutQuery(url), ": ",
      *words == '\0' ? curl_easy_strerror(static_cast<CURLcode>(code)) : words);
  switch (code) {
    case CURLE_ABORTED_BY_CALLBACK:
      return absl::UnavailableError(absl::StrCat(
          WithoutQuery(url), ": the server sent nothing for ",
          absl::FormatDuration(timeout), " (HF_HUB_DOWNLOAD_TIMEOUT)"));
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_SSL_CACERT_BADFILE:
      return absl::InvalidArgumentError(text);
    case CURLE_PEER_FAILED_VERIFICATION:
      return absl::FailedPreconditionError(absl::StrCat(
          text, "; SSL_CERT_FILE names a file of the CAs to trust"));
    default:
      return absl::UnavailableError(text);
  }
}

absl::Status HubStatusError(const HubAnswer& answer, absl::string_view what,
                            bool with_token) {
  const std::string text = absl::StrCat(what, ": status ", answer.status);
  switch (answer.status) {
    case 401:
      return absl::UnauthenticatedError(absl::StrCat(
          text, with_token
                    ? ": the token (HF_TOKEN) is not valid, or there is no "
                      "such model"
                    : ": there is no such model, or it takes a token "
                      "(HF_TOKEN)"));
    case 403:
      return absl::PermissionDeniedError(
          absl::StrCat(text,
                       with_token ? ": the token (HF_TOKEN) may not read it"
                                  : ": it takes a token (HF_TOKEN)",
                       "; some models are given on request, on their page"));
    case 404:
      return absl::NotFoundError(
          absl::StrCat(text, ": no such name, or no such revision"));
    case 416:
    case 429:
      return absl::UnavailableError(text);
    default:
      return answer.status >= 500 ? absl::UnavailableError(text)
                                  : absl::FailedPreconditionError(text);
  }
}

}  // namespace attend
