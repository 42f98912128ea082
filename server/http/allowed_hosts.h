#ifndef ATTEND_SERVER_HTTP_ALLOWED_HOSTS_H_
#define ATTEND_SERVER_HTTP_ALLOWED_HOSTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace attend {

// OK if each entry is "*", a name, an address, or such as "*.example.com". A
// port is an error: all ports of a host are allowed.
absl::Status CheckAllowedHosts(const std::vector<std::string>& hosts);

// Tells for which hosts requests are served, against DNS rebinding: an owner of
// a name makes it resolve to an address that a browser reaches and the owner
// does not. To the browser, pages of the owner then have the origin of the
// server, and may call it and read its answers. A request of such a page has
// the owner's name in its header Host. Constant.
class AllowedHosts {
 public:
  AllowedHosts() = default;
  // `hosts` is valid for CheckAllowedHosts(). `own_names`: names of this server
  // or machine; empty ones do not count.
  AllowedHosts(const std::vector<std::string>& hosts,
               const std::vector<std::string>& own_names);

  // True if `hosts` restricts requests. False: there are none, or "*" is one.
  bool restricts() const { return restricts_; }
  // True for a host of `hosts` or `own_names`, and for hosts that nobody can
  // make resolve to somebody else's address: an address in digits, a name
  // without a dot, localhost, and names below .localhost (RFC 6761), .local
  // (RFC 6762), .internal, .home.arpa (RFC 8375) and Kubernetes' .svc, which
  // the public DNS does not have. `host` is that of a parsed Authority.
  bool Allow(absl::string_view host) const;

 private:
  bool all_ = false;
  bool restricts_ = false;
  std::vector<std::string> hosts_;  // in lower case
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_ALLOWED_HOSTS_H_
