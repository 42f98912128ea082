#include "server/hub/hub_settings.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr size_t kMaxTokenBytes = 4096;
constexpr int kMaxTimeoutSeconds = 3600;

// "" counts as not given, as huggingface_hub has it.
using Variables = absl::FunctionRef<std::string(const char*)>;

// The directory of huggingface_hub; empty: there is none.
std::string HuggingFaceHome(Variables variable) {
  const std::string home = variable("HF_HOME");
  if (!home.empty()) return home;
  const std::string caches = variable("XDG_CACHE_HOME");
  if (!caches.empty()) return caches + "/huggingface";
  const std::string user = variable("HOME");
  return user.empty() ? "" : user + "/.cache/huggingface";
}

// "~/models" of a variable, which no shell has expanded.
std::string Expand(const std::string& path, Variables variable) {
  return absl::StartsWith(path, "~/") ? variable("HOME") + path.substr(1)
                                      : path;
}

absl::Status ReadCache(Variables variable, HubSettings& settings) {
  if (!settings.cache.empty()) return absl::OkStatus();
  settings.cache = variable("HF_HUB_CACHE");
  const std::string home = HuggingFaceHome(variable);
  if (settings.cache.empty() && !home.empty()) settings.cache = home + "/hub";
  settings.cache = Expand(settings.cache, variable);
  if (!settings.cache.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "hub needs a directory for its cache: --hub-cache, or one of the "
      "variables HF_HUB_CACHE, HF_HOME and HOME");
}

absl::Status ReadEndpoint(Variables variable, HubSettings& settings) {
  const std::string endpoint = variable("HF_ENDPOINT");
  if (endpoint.empty()) return absl::OkStatus();
  settings.endpoint = std::string(absl::StripSuffix(endpoint, "/"));
  const bool known = absl::StartsWith(endpoint, "https://") ||
                     absl::StartsWith(endpoint, "http://");
  const bool plain =
      std::all_of(endpoint.begin(), endpoint.end(), absl::ascii_isgraph) &&
      !absl::StrContains(endpoint, '?') && !absl::StrContains(endpoint, '#');
  // A password would be in every error.
  if (known && plain && !absl::StrContains(endpoint, '@')) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "HF_ENDPOINT must be the URL of a hub, such as https://huggingface.co, "
      "without a user and a query");
}

absl::Status ReadToken(Variables variable, HubSettings& settings) {
  std::string source = "HF_TOKEN";
  std::string token = variable("HF_TOKEN");
  if (token.empty()) {
    source = Expand(variable("HF_TOKEN_PATH"), variable);
    const std::string home = Expand(HuggingFaceHome(variable), variable);
    if (source.empty() && !home.empty()) source = home + "/token";
    std::ifstream file(source);
    std::getline(file, token);
  }
  settings.token = std::string(absl::StripAsciiWhitespace(token));
  if (settings.token.size() <= kMaxTokenBytes &&
      std::all_of(settings.token.begin(), settings.token.end(),
                  absl::ascii_isgraph)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(source, " must be a token: at most ", kMaxTokenBytes,
                   " letters, digits and signs"));
}

absl::Status ReadTimeout(Variables variable, HubSettings& settings) {
  const std::string text = variable("HF_HUB_DOWNLOAD_TIMEOUT");
  if (text.empty()) return absl::OkStatus();
  int seconds = 0;
  if (!absl::SimpleAtoi(text, &seconds) || seconds < 1 ||
      seconds > kMaxTimeoutSeconds) {
    return absl::InvalidArgumentError(absl::StrCat(
        "HF_HUB_DOWNLOAD_TIMEOUT is '", absl::CHexEscape(text.substr(0, 50)),
        "', must be whole seconds in [1, ", kMaxTimeoutSeconds, "]"));
  }
  settings.timeout = absl::Seconds(seconds);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadHubVariables(
    absl::FunctionRef<const char*(const char*)> variable,
    HubSettings& settings) {
  const auto value = [&](const char* name) {
    const char* const text = variable(name);
    return std::string(text == nullptr ? "" : text);
  };
  RETURN_IF_ERROR(ReadCache(value, settings));
  RETURN_IF_ERROR(ReadEndpoint(value, settings));
  RETURN_IF_ERROR(ReadToken(value, settings));
  RETURN_IF_ERROR(ReadTimeout(value, settings));
  settings.ca_file = value("SSL_CERT_FILE");
  settings.ca_directory = value("SSL_CERT_DIR");
  const std::string offline = absl::AsciiStrToLower(value("HF_HUB_OFFLINE"));
  for (const char* yes : {"1", "on", "yes", "true"}) {
    if (offline == yes) settings.offline = true;
  }
  return absl::OkStatus();
}

}  // namespace attend
