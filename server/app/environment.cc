#include "server/app/environment.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "command_line/did_you_mean.h"

namespace attend {
namespace {

constexpr absl::string_view kVariablePrefix = "ATTEND_";
constexpr absl::string_view kProtocols[] = {"tcp", "udp", "sctp"};
constexpr size_t kMaxShown = 200;  // bytes of a name or value

// Variables of the clients (docs/clients.md) and of --health-check.
constexpr absl::string_view kClientVariables[] = {
    "ATTEND_ADDRESS",      "ATTEND_CA",      "ATTEND_CERT",
    "ATTEND_KEY",          "ATTEND_PROFILE", "ATTEND_TLS",
    "ATTEND_SERVER_NAME",  "ATTEND_TOKEN",   "ATTEND_URL",
    "ATTEND_METRICS_TOKEN"};

bool IsServiceAddress(absl::string_view value) {
  return std::any_of(std::begin(kProtocols), std::end(kProtocols),
                     [&](absl::string_view protocol) {
                       return absl::StartsWith(value,
                                               absl::StrCat(protocol, "://"));
                     });
}

bool IsDecimal(absl::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), absl::ascii_isdigit);
}

// Kubernetes sets NAME_SERVICE_HOST, NAME_SERVICE_PORT, NAME_SERVICE_PORT_PORT,
// and NAME_PORT_50051_TCP, the last also with _PROTO, _PORT and _ADDR.
bool HasServiceName(absl::string_view name) {
  if (absl::EndsWith(name, "_SERVICE_HOST") ||
      absl::StrContains(absl::StrCat(name, "_"), "_SERVICE_PORT_")) {
    return true;
  }
  const std::vector<absl::string_view> words = absl::StrSplit(name, '_');
  for (size_t i = 0; i + 2 < words.size(); ++i) {
    if (words[i] != "PORT" || !IsDecimal(words[i + 1])) continue;
    for (const absl::string_view protocol : kProtocols) {
      if (absl::EqualsIgnoreCase(words[i + 2], protocol)) return true;
    }
  }
  return false;
}

bool IsKnown(absl::string_view name, const std::vector<std::string>& known) {
  return std::find(known.begin(), known.end(), name) != known.end() ||
         std::find(std::begin(kClientVariables), std::end(kClientVariables),
                   name) != std::end(kClientVariables);
}

}  // namespace

std::string OptionVariable(absl::string_view option) {
  return absl::StrCat(
      kVariablePrefix,
      absl::AsciiStrToUpper(absl::StrReplaceAll(option, {{"-", "_"}})));
}

bool IsServiceLink(absl::string_view option, absl::string_view value) {
  return (option == "port" || absl::EndsWith(option, "-port")) &&
         IsServiceAddress(value);
}

std::string ServiceLinkWarning(absl::string_view variable,
                               absl::string_view value) {
  return absl::StrCat(
      variable, " is '", absl::CHexEscape(value.substr(0, kMaxShown)),
      "', the address of a Kubernetes service of that name, and is ignored; "
      "enableServiceLinks: false in the pod's spec keeps it away");
}

std::vector<std::string> UnknownVariables(
    const char* const* environment, const std::vector<std::string>& known) {
  std::vector<std::string> warnings;
  for (; *environment != nullptr; ++environment) {
    const absl::string_view entry = *environment;
    const absl::string_view name = entry.substr(0, entry.find('='));
    if (!absl::StartsWith(name, kVariablePrefix) || IsKnown(name, known) ||
        HasServiceName(name) ||
        IsServiceAddress(
            entry.substr(std::min(name.size() + 1, entry.size())))) {
      continue;
    }
    warnings.push_back(absl::StrCat(
        "the variable ", absl::CHexEscape(name.substr(0, kMaxShown)),
        " sets no option", DidYouMean(name, known), "; see --help"));
  }
  return warnings;
}

}  // namespace attend
