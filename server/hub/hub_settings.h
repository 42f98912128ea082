#ifndef ATTEND_SERVER_HUB_HUB_SETTINGS_H_
#define ATTEND_SERVER_HUB_HUB_SETTINGS_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace attend {

// Where models of a hub come from and go to. The options of the server give
// some of it, and the variables of huggingface_hub the rest.
struct HubSettings {
  std::string cache = "";  // directory; empty: as the variables say
  bool offline = false;    // only what the cache has

  std::string endpoint = "https://huggingface.co";  // without a '/' at its end
  std::string token = "";                           // empty: none
  // PEM file and directory of the CAs. Empty: those of the system.
  std::string ca_file = "";
  std::string ca_directory = "";
  // A server that sends nothing for this long is given up.
  absl::Duration timeout = absl::Seconds(10);
  // Before a request is made again; twice as long each further time.
  absl::Duration retry_delay = absl::Milliseconds(250);
};

// Fills what `settings` leaves open from HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME
// and HOME (the cache), HF_HUB_OFFLINE, HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH
// and the file `token` in HF_HOME (the token), HF_HUB_DOWNLOAD_TIMEOUT,
// SSL_CERT_FILE and SSL_CERT_DIR. libcurl reads the variables of proxies.
// INVALID_ARGUMENT names the variable, but shows no token.
absl::Status ReadHubVariables(
    absl::FunctionRef<const char*(const char*)> variable,
    HubSettings& settings);

}  // namespace attend

#endif  // ATTEND_SERVER_HUB_HUB_SETTINGS_H_
