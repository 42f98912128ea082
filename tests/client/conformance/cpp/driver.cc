// Runs cases by the C++ library. Each line that comes in is a case, each line
// that goes out its outcome; see ../README.md.

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
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
  absl::StatusOr<ClientOptions> options = OptionsFromEnvironment();
  if (!options.ok()) return options.status();
  if (!test.at("target").is_null()) options->address = test.at("target");
  options->token = given.value("token", options->token);
  if (absl::Status status = CheckToken(options->token); !status.ok()) {
    return status;
  }
  if (given.contains("tls")) {
    absl::StatusOr<ClientTls> tls = TlsOf(given.at("tls"));
    if (!tls.ok()) return tls.status();
    options->tls = *std::move(tls);
  }
  options->health_checks = given.value("healthChecks", true);
  options->model = given.value("model", "");
  if (given.contains("timeout")) {
    options->timeout = SecondsOf(given.at("timeout"));
  }
  options->retry.max_attempts =
      given.value("maxAttempts", options->retry.max_attempts);
  if (given.contains("hedgeAfter")) {
    options->hedge_after = SecondsOf(given.at("hedgeAfter"));
  }
  options->affinity = given.value("affinity", 0u);
  options->resume = given.value("resume", true);
  return options;
}

CallOptions CallOptionsOf(const Json& call, Cancellation* cancellation) {
  CallOptions options = {.cancellation = cancellation};
  if (call.contains("timeout")) options.timeout = SecondsOf(call.at("timeout"));
  const Json metadata = call.value("metadata", Json::object());
  for (const auto& [key, value] : metadata.items()) {
    options.metadata.emplace_back(key, value);
  }
  if (call.contains("traceparent")) {
    options.metadata.emplace_back("traceparent", call.at("traceparent"));
  }
  return options;
}

Json Generate(const std::string& text) {
  return {{"method", "generate"},
          {"request", {{"inputs", {{{"text", text}}}}}}};
}

// With "keys", of so many texts that begin differently.
std::vector<Json> CallsOf(const Json& call) {
  if (!call.contains("keys")) {
    return std::vector<Json>(call.value("times", 1), call);
  }
  std::vector<Json> calls;
  for (int i = 0; i < call.at("keys").get<int>(); ++i) {
    calls.push_back(Generate(absl::StrFormat("%8d", i)));
  }
  return calls;
}

// Calls until so many servers have answered.
void Warm(Client& client, const Json& call) {
  const std::vector<Json> calls =
      call.contains("keys") ? CallsOf(call) : std::vector{Generate("a")};
  std::set<std::string> seen;
  std::vector<std::string> no_parts;
  for (size_t i = 0; seen.size() < call.value("warm", 0u); ++i) {
    const CallResult result =
        MakeCall(client, calls[i % calls.size()], {}, no_parts);
    ATTEND_CHECK(result.status.ok());
    seen.insert(result.value.at(0).at(0));
  }
}

// Cancels the calls after the time of the case.
std::thread Canceller(const Json& call, Cancellation& cancellation) {
  if (!call.contains("cancelAfter")) return {};
  return std::thread([&call, &cancellation] {
    absl::SleepFor(SecondsOf(call.at("cancelAfter")));
    cancellation.Cancel();
  });
}

void AddError(const CallResult& failed, const std::vector<std::string>& parts,
              Json& outcome) {
  outcome["code"] = absl::StatusCodeToString(failed.status.code());
  outcome["message"] = failed.status.message();
  const std::optional<absl::Duration> after = RetryAfter(failed.status);
  outcome["retryAfter"] = after ? Json(absl::ToDoubleSeconds(*after)) : Json();
  if (failed.input) outcome["input"] = *failed.input;
  if (!parts.empty()) outcome["value"] = parts;
  Json others = Json::array();
  if (failed.input) {
    for (const Json& texts : failed.value) others.push_back(texts.at(0));
  }
  outcome["others"] = others;
}

Json RunWith(Client& client, const Json& call) {
  Warm(client, call);
  Json outcome = {{"values", Json::array()}};
  std::vector<std::string> parts;
  const absl::Time begin = absl::Now();
  Cancellation cancellation;
  std::thread canceller = Canceller(call, cancellation);
  const CallOptions of_call = CallOptionsOf(call, &cancellation);
  for (const Json& each : CallsOf(call)) {
    const CallResult result = MakeCall(client, each, of_call, parts);
    if (!result.status.ok()) {
      AddError(result, parts, outcome);
      break;
    }
    outcome["values"].push_back(result.value);
  }
  outcome["seconds"] = absl::ToDoubleSeconds(absl::Now() - begin);
  if (canceller.joinable()) canceller.join();
  return outcome;
}

// `kept`: the client of cases with "keep".
Json Run(const Json& test, std::optional<Client>& kept) {
  const bool keep = test.value("keep", false);
  if (!keep || !kept) {
    absl::StatusOr<ClientOptions> options = OptionsOf(test);
    if (!options.ok()) return {{"refused", options.status().message()}};
    if (!keep) {
      Client client(*std::move(options));
      return RunWith(client, test.at("call"));
    }
    kept.emplace(*std::move(options));
  }
  return RunWith(*kept, test.at("call"));
}

}  // namespace
}  // namespace attend

int main() {
  std::optional<attend::Client> kept;
  for (std::string line; std::getline(std::cin, line);) {
    const auto test = nlohmann::json::parse(line);
    const auto environment = test.at("environment");
    for (const auto& [name, value] : environment.items()) {
      setenv(name.c_str(), value.get<std::string>().c_str(), 1);
    }
    std::cout << attend::Run(test, kept).dump() << std::endl;
    for (const auto& [name, value] : environment.items()) {
      unsetenv(name.c_str());
    }
  }
  return 0;
}
