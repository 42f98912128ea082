#ifndef ATTEND_SERVER_HUB_HUB_HTTP_H_
#define ATTEND_SERVER_HUB_HUB_HTTP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/hub/hub_error.h"
#include "server/hub/hub_settings.h"

namespace attend {

// Speaks HTTP with a hub, by libcurl: proxies and certificates are those of the
// system's variables. The token goes to the host, port and scheme of the
// endpoint alone, and from https nothing leads to http. One thread at a time.
class HubHttp {
 public:
  // Takes the next bytes of a body whose answer has status 200 or 206.
  using Body =
      absl::FunctionRef<absl::Status(const HubAnswer&, absl::string_view)>;

  // When `stopping` says so, what runs ends within a second, as CANCELLED.
  HubHttp(const HubSettings& settings, std::function<bool()> stopping);
  ~HubHttp();
  HubHttp(const HubHttp&) = delete;
  HubHttp& operator=(const HubHttp&) = delete;

  // Follows redirects to the endpoint's own host; one that leads elsewhere is
  // the answer.
  absl::StatusOr<HubAnswer> Head(const std::string& url);
  // Follows all redirects. From `offset` on, if the server can do that.
  absl::StatusOr<HubAnswer> Get(const std::string& url, int64_t offset,
                                Body body);

  // Makes `attempt` again, some times and ever later, while it is UNAVAILABLE,
  // and as long as it brings kProgressBytes each time.
  absl::Status Retry(absl::FunctionRef<absl::Status()> attempt);

  // OK while nobody asks for the end.
  absl::Status CheckStopping() const;

 private:
  static constexpr int kMaxRedirects = 8;
  static constexpr int kMaxRetries = 5;  // without progress
  static constexpr int kMaxRetriesInAll = 100;
  static constexpr int64_t kProgressBytes = 1 << 20;

  struct Transfer;
  class Handle;

  absl::StatusOr<HubAnswer> Follow(const std::string& url, Transfer& transfer);
  absl::Status Perform(const std::string& url, bool own_host,
                       Transfer& transfer);
  void SetTransport(bool own_host);
  absl::Status Wait(absl::Duration delay) const;

  const HubSettings settings_;
  const std::function<bool()> stopping_;
  const std::unique_ptr<Handle> handle_;
  int64_t received_ = 0;                               // bytes of bodies
  absl::Duration retry_after_ = absl::ZeroDuration();  // in the last answer
};

}  // namespace attend

#endif  // ATTEND_SERVER_HUB_HUB_HTTP_H_
