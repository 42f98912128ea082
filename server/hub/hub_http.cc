#include "server/hub/hub_http.h"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/tensor/status_macros.h"
#include "server/hub/hub_error.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

constexpr absl::Duration kMostRetryAfter = absl::Minutes(1);
constexpr absl::Duration kStopInterval = absl::Milliseconds(50);
// Slower is as good as silent.
constexpr long kMinBytesPerSecond = 1000;  // NOLINT(runtime/int): libcurl's
constexpr long kSlowSeconds = 60;          // NOLINT(runtime/int): type
constexpr size_t kMaxHeaderBytes = 4096;   // longer headers are ignored

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 ||
         status == 308;
}

absl::Duration RetryAfter(const HubAnswer& answer) {
  int seconds = 0;
  if ((answer.status != 429 && answer.status != 503) ||
      !absl::SimpleAtoi(answer.Header("retry-after"), &seconds)) {
    return absl::ZeroDuration();
  }
  return std::clamp(absl::Seconds(seconds), absl::ZeroDuration(),
                    kMostRetryAfter);
}

// "https|host|443|"; empty: the URL is none.
std::string Origin(const std::string& url) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(),
                                                        curl_url_cleanup);
  if (parsed == nullptr ||
      curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
    return "";
  }
  std::string origin;
  for (const auto& [part, flags] :
       {std::pair(CURLUPART_SCHEME, 0u), std::pair(CURLUPART_HOST, 0u),
        std::pair(CURLUPART_PORT, unsigned{CURLU_DEFAULT_PORT})}) {
    char* text = nullptr;
    if (curl_url_get(parsed.get(), part, &text, flags) != CURLUE_OK) return "";
    absl::StrAppend(&origin, absl::AsciiStrToLower(text), "|");
    curl_free(text);
  }
  return origin;
}

}  // namespace

class HubHttp::Handle {
 public:
  Handle() : curl_(curl_easy_init()) {}
  ~Handle() { curl_easy_cleanup(curl_); }
  CURL* get() const { return curl_; }

 private:
  CURL* const curl_;
};

// One request and what comes of it, for libcurl's functions.
struct HubHttp::Transfer {
  Transfer(HubHttp& of, bool only_head, int64_t from, Body to)
      : http(of), head_only(only_head), offset(from), body(to) {}

  HubHttp& http;
  const bool head_only;
  const int64_t offset;
  const Body body;
  HubAnswer answer;
  std::string redirect;
  absl::Status status;  // result of `body`, or the reason of an abort
  absl::Time heard;     // time of the last data

  // libcurl's functions: of a line of the head, bytes of the body, and the
  // passing of time.
  static size_t TakeHeader(char* bytes, size_t size, size_t count, void* self);
  static size_t TakeBody(char* bytes, size_t size, size_t count, void* self);
  static int Tick(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
};

size_t HubHttp::Transfer::TakeHeader(char* bytes, size_t size, size_t count,
                                     void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.heard = SteadyNow();
  const absl::string_view line(bytes, size * count);
  const size_t colon = line.find(':');
  if (absl::StartsWith(line, "HTTP/")) {
    const size_t space = line.find(' ');
    if (space == line.npos ||
        !absl::SimpleAtoi(line.substr(space + 1, 3), &transfer.answer.status)) {
      return 0;
    }
    // A redirect's own headers do not describe the file.
    std::erase_if(transfer.answer.headers, [](const auto& header) {
      return !absl::StartsWith(header.first, "x-");
    });
  } else if (colon != line.npos && line.size() < kMaxHeaderBytes) {
    const std::string name = absl::AsciiStrToLower(line.substr(0, colon));
    for (const char* known :
         {"content-length", "content-range", "etag", "retry-after",
          "x-error-code", "x-linked-etag", "x-linked-size", "x-repo-commit"}) {
      if (name != known) continue;
      transfer.answer.headers[name] =
          std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
    }
  }
  return line.size();
}

size_t HubHttp::Transfer::TakeBody(char* bytes, size_t size, size_t count,
                                   void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.heard = SteadyNow();
  const absl::string_view text(bytes, size * count);
  const int status = transfer.answer.status;
  if (status == 200 || status == 206) {
    transfer.http.received_ += static_cast<int64_t>(text.size());
    transfer.status = transfer.body(transfer.answer, text);
  } else if (!IsRedirect(status)) {
    return CURL_WRITEFUNC_ERROR;  // a page of words: the status says enough
  }
  return transfer.status.ok() ? text.size() : CURL_WRITEFUNC_ERROR;
}

int HubHttp::Transfer::Tick(void* self, curl_off_t, curl_off_t, curl_off_t,
                            curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(self);
  if (transfer.status.ok()) transfer.status = transfer.http.CheckStopping();
  const bool quiet =
      SteadyNow() - transfer.heard > transfer.http.settings_.timeout;
  return transfer.status.ok() && !quiet ? 0 : 1;
}

HubHttp::HubHttp(const HubSettings& settings, std::function<bool()> stopping)
    : settings_(settings),
      stopping_(std::move(stopping)),
      handle_(std::make_unique<Handle>()) {}

HubHttp::~HubHttp() = default;

absl::StatusOr<HubAnswer> HubHttp::Head(const std::string& url) {
  const auto no_body = [](const HubAnswer&, absl::string_view) {
    return absl::OkStatus();
  };
  Transfer transfer(*this, true, 0, no_body);
  return Follow(url, transfer);
}

absl::StatusOr<HubAnswer> HubHttp::Get(const std::string& url, int64_t offset,
                                       Body body) {
  Transfer transfer(*this, false, offset, body);
  return Follow(url, transfer);
}

absl::StatusOr<HubAnswer> HubHttp::Follow(const std::string& url,
                                          Transfer& transfer) {
  const std::string home = Origin(settings_.endpoint);
  std::string next = url;
  for (int i = 0; i <= kMaxRedirects; ++i) {
    const bool own_host = Origin(next) == home;
    if (transfer.head_only && !own_host) return transfer.answer;
    RETURN_IF_ERROR(Perform(next, own_host, transfer));
    if (!IsRedirect(transfer.answer.status)) return transfer.answer;
    if (absl::StartsWith(next, "https:") &&
        !absl::StartsWith(transfer.redirect, "https:")) {
      return absl::FailedPreconditionError(
          absl::StrCat(WithoutQuery(next), ": redirects to '",
                       absl::CHexEscape(WithoutQuery(transfer.redirect)),
                       "', must be https"));
    }
    next = transfer.redirect;
  }
  return absl::FailedPreconditionError(absl::StrCat(
      WithoutQuery(url), ": more than ", kMaxRedirects, " redirects"));
}

// Applies the settings to a request. The handle keeps its connections.
void HubHttp::SetTransport(bool own_host) {
  CURL* const curl = handle_->get();
  const auto milliseconds =
      static_cast<long>(  // NOLINT(runtime/int): libcurl's type
          absl::ToInt64Milliseconds(settings_.timeout));
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "attend");
  curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, milliseconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kMinBytesPerSecond);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSlowSeconds);
  if (!settings_.ca_file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, settings_.ca_file.c_str());
  }
  if (!settings_.ca_directory.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAPATH, settings_.ca_directory.c_str());
  }
  if (own_host && !settings_.token.empty()) {
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, settings_.token.c_str());
  }
}

absl::Status HubHttp::Perform(const std::string& url, bool own_host,
                              Transfer& transfer) {
  CURL* const curl = handle_->get();
  if (curl == nullptr) {
    return absl::ResourceExhaustedError("no memory for a request over HTTP");
  }
  SetTransport(own_host);
  char words[CURL_ERROR_SIZE] = "";
  const std::string range = absl::StrCat(transfer.offset, "-");
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words);
  curl_easy_setopt(curl, CURLOPT_NOBODY, transfer.head_only ? 1L : 0L);
  if (transfer.offset > 0) curl_easy_setopt(curl, CURLOPT_RANGE, range.c_str());
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, Transfer::TakeHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Transfer::TakeBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, Transfer::Tick);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  transfer.answer.status = 0;
  transfer.heard = SteadyNow();
  const CURLcode code = curl_easy_perform(curl);
  RETURN_IF_ERROR(transfer.status);
  const int status = transfer.answer.status;
  const bool unread = code == CURLE_WRITE_ERROR && status >= 400;
  if (code != CURLE_OK && !unread) {
    return HubTransferError(code, words, url, settings_.timeout);
  }
  const char* redirect = nullptr;
  curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &redirect);
  transfer.redirect = redirect == nullptr ? "" : redirect;
  retry_after_ = RetryAfter(transfer.answer);
  return absl::OkStatus();
}

absl::Status HubHttp::CheckStopping() const {
  if (!stopping_()) return absl::OkStatus();
  return absl::CancelledError("the server is asked to end");
}

absl::Status HubHttp::Wait(absl::Duration delay) const {
  for (; delay > absl::ZeroDuration(); delay -= kStopInterval) {
    RETURN_IF_ERROR(CheckStopping());
    absl::SleepFor(std::min(delay, kStopInterval));
  }
  return CheckStopping();
}

absl::Status HubHttp::Retry(absl::FunctionRef<absl::Status()> attempt) {
  int retries = 0;
  for (int total = 0;; ++total, ++retries) {
    const int64_t before = received_;
    retry_after_ = absl::ZeroDuration();
    const absl::Status status = attempt();
    if (received_ - before >= kProgressBytes) retries = 0;
    if (!absl::IsUnavailable(status) || retries == kMaxRetries ||
        total == kMaxRetriesInAll) {
      return status;
    }
    RETURN_IF_ERROR(
        Wait(std::max(retry_after_, settings_.retry_delay * (1 << retries))));
  }
}

}  // namespace attend
