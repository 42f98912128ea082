// Runs cases by the C++ library. Each line that comes in is a case, each line
// that goes out its outcome; see ../README.md.

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cpp/lib/client.h"
#include "client/cpp/lib/client_tls.h"
#include "engine/tensor/check.h"
#include "tests/client/conformance/cpp/calls.h"

namespace attend {
namespace {

using Json = nlohmann::json;

absl::Duration SecondsOf(const Json& seconds) {
  return absl::Seconds(seconds.get<double>());
}

absl::StatusOr<ClientTls> TlsOf(const Json& given) {
  return ReadClientTls({.ca = given.value("ca", ""),
                        .cert = given.value("cert", ""),
                        .key = given.value("key", ""),
                        .server_name = given.value("serverName", "")});
}

// An error: there is no such client.
absl::StatusOr<ClientOptions> OptionsOf(const Json& test) {
  const Json& given = test.at("client");
  const Json& call = test.at("call");
  ClientOptions options = {.address = test.at("target"),
                           .token = given.value("token", "")};
  if (absl::Status status = CheckToken(options.token); !status.ok()) {
    return status;
  }
  if (given.contains("tls")) {
    absl::StatusOr<ClientTls> tls = TlsOf(given.at("tls"));
    if (!tls.ok()) return tls.status();
    options.tls = *std::move(tls);
  }
  if (given.contains("timeout")) {
    options.timeout = SecondsOf(given.at("timeout"));
  }
  options.retry.max_attempts =
      given.value("maxAttempts", options.retry.max_attempts);
  const Json metadata = call.value("metadata", Json::object());
  for (const auto& [key, value] : metadata.items()) {
    options.metadata.emplace_back(key, value);
  }
  if (call.contains("traceparent")) {
    options.metadata.emplace_back("traceparent", call.at("traceparent"));
  }
  return options;
}

// Until a server has answered.
void Warm(Client& client, const Json& call) {
  if (!call.contains("warm")) return;
  v1::GenerateRequest request;
  request.add_inputs()->set_text("a");
  ATTEND_CHECK(client.Generate(request).ok());
}

void AddError(const CallResult& failed, const std::vector<std::string>& parts,
              Json& outcome) {
  outcome["code"] = absl::StatusCodeToString(failed.status.code());
  outcome["message"] = failed.status.message();
  outcome["retryAfter"] = nullptr;
  if (failed.input) outcome["input"] = *failed.input;
  if (!parts.empty()) outcome["value"] = parts;
  Json others = Json::array();
  if (failed.input) {
    for (const Json& texts : failed.value) others.push_back(texts.at(0));
  }
  outcome["others"] = others;
}

Json Run(const Json& test) {
  absl::StatusOr<ClientOptions> options = OptionsOf(test);
  if (!options.ok()) return {{"refused", options.status().message()}};
  Client client(*std::move(options));
  const Json& call = test.at("call");
  Warm(client, call);
  Json outcome = {{"values", Json::array()}};
  std::vector<std::string> parts;
  const absl::Time begin = absl::Now();
  for (int i = 0; i < call.value("times", 1); ++i) {
    const CallResult result = MakeCall(client, call, parts);
    if (!result.status.ok()) {
      AddError(result, parts, outcome);
      break;
    }
    outcome["values"].push_back(result.value);
  }
  outcome["seconds"] = absl::ToDoubleSeconds(absl::Now() - begin);
  return outcome;
}

}  // namespace
}  // namespace attend

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << attend::Run(nlohmann::json::parse(line)).dump() << std::endl;
  }
  return 0;
}
