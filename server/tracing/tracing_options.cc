#include "server/tracing/tracing_options.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

// "%2C" is a comma. None: a percent sign without two digits.
std::optional<std::string> PercentDecode(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    int byte = 0;
    if (i + 2 >= text.size() || !absl::ascii_isxdigit(text[i + 1]) ||
        !absl::ascii_isxdigit(text[i + 2]) ||
        !absl::SimpleHexAtoi(text.substr(i + 1, 2), &byte)) {
      return std::nullopt;
    }
    decoded.push_back(static_cast<char>(byte));
    i += 2;
  }
  return decoded;
}

// Metadata that gRPC takes; it ends the process for other keys.
bool IsMetadata(absl::string_view key, absl::string_view value) {
  return !absl::StartsWith(key, "grpc-") && !absl::EndsWith(key, "-bin") &&
         std::all_of(key.begin(), key.end(),
                     [](char c) {
                       return absl::ascii_isalnum(c) ||
                              absl::StrContains("-_.", c);
                     }) &&
         std::all_of(value.begin(), value.end(),
                     [](char c) { return absl::ascii_isprint(c); });
}

constexpr absl::string_view kAfterScheme = "://";

bool HasScheme(absl::string_view endpoint) {
  return absl::StrContains(endpoint, kAfterScheme);
}

// A name, or an address; one of IPv6 stands between brackets.
bool IsHost(absl::string_view text) {
  const bool brackets = absl::StartsWith(text, "[");
  if (brackets) {
    text.remove_prefix(1);
    if (!absl::ConsumeSuffix(&text, "]")) return false;
  }
  return !text.empty() && absl::c_all_of(text, [brackets](char c) {
    return absl::ascii_isalnum(c) ||
           absl::StrContains(brackets ? ".:%" : "-._", c);
  });
}

// The variables of one reading.
class Variables {
 public:
  Variables(GetVariable get, std::vector<std::string>& warnings)
      : get_(get), warnings_(warnings) {}

  // The first that is set, and its name; an empty one counts as not set.
  absl::string_view Text(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const char* value = get_(name);
      name_ = name;
      if (value == nullptr) continue;
      const absl::string_view text = absl::StripAsciiWhitespace(value);
      if (!text.empty()) return text;
    }
    return {};
  }

  // `number` stays as it is without a whole number from 1 to `max`.
  void Number(std::initializer_list<const char*> names, int64_t max,
              int64_t& number) {
    const absl::string_view text = Text(names);
    int64_t value = 0;
    if (text.empty()) return;
    if (!absl::SimpleAtoi(text, &value) || value < 1 || value > max) {
      return Warn(absl::StrCat("must be a number from 1 to ", max));
    }
    number = value;
  }

  void Millis(std::initializer_list<const char*> names,
              absl::Duration& duration) {
    int64_t millis = absl::ToInt64Milliseconds(duration);
    Number(names, 24 * 3600 * 1000, millis);
    duration = absl::Milliseconds(millis);
  }

  // "key=value,key=value", values in percent code.
  TracingPairs Pairs(std::initializer_list<const char*> names) {
    TracingPairs pairs;
    const absl::string_view text = Text(names);
    for (const absl::string_view member :
         absl::StrSplit(text, ',', absl::SkipWhitespace())) {
      const std::pair<absl::string_view, absl::string_view> pair =
          absl::StrSplit(member, absl::MaxSplits('=', 1));
      const absl::string_view key = absl::StripAsciiWhitespace(pair.first);
      const auto value = PercentDecode(absl::StripAsciiWhitespace(pair.second));
      if (key.empty() || !value || !absl::StrContains(member, '=')) {
        Warn(
            "must be a list key=value,key=value with %XX for other characters");
        return {};
      }
      pairs.emplace_back(key, *value);
    }
    return pairs;
  }

  // About the variable that was read last.
  void Warn(absl::string_view problem) {
    warnings_.push_back(absl::StrCat(name_, " is ignored: ", problem));
  }

 private:
  const GetVariable get_;
  std::vector<std::string>& warnings_;
  const char* name_ = "";
};

void ReadSampler(Variables& variables, SamplerOptions& sampler) {
  absl::string_view name = variables.Text({"OTEL_TRACES_SAMPLER"});
  if (name.empty()) return;
  SamplerOptions read;
  read.follow_parent = absl::ConsumePrefix(&name, "parentbased_");
  if (name == "traceidratio") {
    const absl::string_view share = variables.Text({"OTEL_TRACES_SAMPLER_ARG"});
    if (!share.empty() && (!absl::SimpleAtod(share, &read.share) ||
                           !(read.share >= 0 && read.share <= 1))) {
      read.share = 1;
      variables.Warn("must be a number from 0 to 1");
    }
  } else if (name == "always_off") {
    read.share = 0;
  } else if (name != "always_on") {
    return variables.Warn(
        "must be always_on, always_off or traceidratio, perhaps after "
        "parentbased_");
  }
  sampler = read;
}

void ReadResource(Variables& variables, TracingPairs& resource) {
  const auto set = [&resource](const std::string& key, std::string value) {
    for (auto& [known, old] : resource) {
      if (known == key) return static_cast<void>(old = std::move(value));
    }
    resource.emplace_back(key, std::move(value));
  };
  for (auto& [key, value] : variables.Pairs({"OTEL_RESOURCE_ATTRIBUTES"})) {
    set(key, std::move(value));
  }
  const absl::string_view name = variables.Text({"OTEL_SERVICE_NAME"});
  if (!name.empty()) set("service.name", std::string(name));
}

void ReadQueue(Variables& variables, SpanQueueOptions& queue) {
  int64_t spans = static_cast<int64_t>(queue.max_spans);
  int64_t batch = static_cast<int64_t>(queue.max_batch_spans);
  variables.Number({"OTEL_BSP_MAX_QUEUE_SIZE"}, 1000000, spans);
  variables.Number({"OTEL_BSP_MAX_EXPORT_BATCH_SIZE"}, 1000000, batch);
  variables.Millis({"OTEL_BSP_SCHEDULE_DELAY"}, queue.delay);
  queue.max_spans = static_cast<size_t>(spans);
  queue.max_batch_spans = static_cast<size_t>(std::min(batch, spans));
}

void ReadHeaders(Variables& variables, TracingPairs& headers) {
  for (auto& [key, value] :
       variables.Pairs({"OTEL_EXPORTER_OTLP_TRACES_HEADERS",
                        "OTEL_EXPORTER_OTLP_HEADERS"})) {
    absl::AsciiStrToLower(&key);
    if (IsMetadata(key, value)) {
      headers.emplace_back(std::move(key), std::move(value));
    } else {
      variables.Warn("a key or a value cannot be metadata of gRPC");
    }
  }
}

bool IsOff(Variables& variables) {
  if (absl::EqualsIgnoreCase(variables.Text({"OTEL_SDK_DISABLED"}), "true")) {
    return true;
  }
  const absl::string_view exporter = variables.Text({"OTEL_TRACES_EXPORTER"});
  if (exporter == "none") return true;
  if (!exporter.empty() && exporter != "otlp") {
    variables.Warn("must be otlp or none");
  }
  return false;
}

OtlpEndpoint ReadEndpoint(absl::string_view flag, Variables& variables) {
  const absl::string_view text =
      !flag.empty() ? flag
                    : variables.Text({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
                                      "OTEL_EXPORTER_OTLP_ENDPOINT"});
  if (text.empty()) return {};
  auto endpoint = ParseOtlpEndpoint(text);
  if (!endpoint.ok()) {
    variables.Warn("must be like http://host:4317");
    return {};
  }
  if (!HasScheme(text)) {
    const absl::string_view insecure = variables.Text(
        {"OTEL_EXPORTER_OTLP_TRACES_INSECURE", "OTEL_EXPORTER_OTLP_INSECURE"});
    endpoint->tls = !absl::EqualsIgnoreCase(insecure, "true");
  }
  return *std::move(endpoint);
}

void ReadTransport(Variables& variables, TracingOptions& options) {
  variables.Millis(
      {"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"},
      options.timeout);
  absl::Duration whole = absl::Seconds(30);
  variables.Millis({"OTEL_BSP_EXPORT_TIMEOUT"}, whole);
  options.timeout = std::min(options.timeout, whole);
  options.ca_file =
      std::string(variables.Text({"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
                                  "OTEL_EXPORTER_OTLP_CERTIFICATE"}));
  const absl::string_view packing =
      variables.Text({"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
                      "OTEL_EXPORTER_OTLP_COMPRESSION"});
  options.gzip = packing == "gzip";
  if (!packing.empty() && packing != "gzip" && packing != "none") {
    variables.Warn("must be gzip or none");
  }
  const absl::string_view protocol = variables.Text(
      {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"});
  if (!protocol.empty() && protocol != "grpc") variables.Warn("must be grpc");
}

}  // namespace

absl::StatusOr<OtlpEndpoint> ParseOtlpEndpoint(absl::string_view text) {
  const absl::Status wrong = absl::InvalidArgumentError(
      "otlp_endpoint must be like http://host:4317 or https://host:4317");
  OtlpEndpoint endpoint = {.target = {}, .tls = true};
  absl::string_view rest = text;
  if (HasScheme(text)) {
    const size_t end = text.find(kAfterScheme);
    const absl::string_view scheme = text.substr(0, end);
    endpoint.tls = absl::EqualsIgnoreCase(scheme, "https");
    if (!endpoint.tls && !absl::EqualsIgnoreCase(scheme, "http")) return wrong;
    rest = text.substr(end + kAfterScheme.size());
  }
  rest = rest.substr(0, rest.find_first_of("/?#"));
  absl::string_view host = rest;
  absl::string_view port = "4317";
  const size_t colon = rest.rfind(':');
  if (colon != rest.npos && rest.back() != ']') {
    host = rest.substr(0, colon);
    port = rest.substr(colon + 1);
  }
  uint32_t number = 0;
  if (!IsHost(host) || !absl::c_all_of(port, absl::ascii_isdigit) ||
      !absl::SimpleAtoi(port, &number) || number < 1 || number > 65535) {
    return wrong;
  }
  endpoint.target = absl::StrCat(host, ":", number);
  return endpoint;
}

TracingOptions ReadTracingOptions(absl::string_view endpoint,
                                  GetVariable get_variable,
                                  std::vector<std::string>& warnings) {
  Variables variables(get_variable, warnings);
  TracingOptions options;
  if (IsOff(variables)) return options;
  options.endpoint = ReadEndpoint(endpoint, variables);
  if (options.endpoint.target.empty()) return options;
  ReadTransport(variables, options);
  ReadHeaders(variables, options.headers);
  ReadResource(variables, options.resource);
  ReadSampler(variables, options.sampler);
  ReadQueue(variables, options.queue);
  return options;
}

}  // namespace attend
