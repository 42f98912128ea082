#ifndef ATTEND_SERVER_HUB_HUB_ERROR_H_
#define ATTEND_SERVER_HUB_HUB_ERROR_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace attend {

struct HubAnswer {
  int status = 0;
  // Names in lower case. After redirects, headers that the last answer lacks
  // are those of the redirects.
  std::map<std::string, std::string> headers = {};

  // Empty: it is not there.
  std::string Header(const std::string& name) const;
};

// Describes an answer with a status other than 200 and 206, with a remedy.
// `what` begins the error; `with_token`: the request had one.
absl::Status HubStatusError(const HubAnswer& answer, absl::string_view what,
                            bool with_token);

// The error of a request that has no answer, or not all of one. `code` is
// libcurl's, `words` its own words or empty, `timeout` how long it may be
// quiet.
absl::Status HubTransferError(int code, const char* words,
                              const std::string& url, absl::Duration timeout);

// For errors: a signed URL has a key in its query.
std::string WithoutQuery(const std::string& url);

}  // namespace attend

#endif  // ATTEND_SERVER_HUB_HUB_ERROR_H_
