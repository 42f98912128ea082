#include "server/app/start_tracing.h"

#include <cstdint>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/tracing/tracing_options.h"

namespace attend {
namespace {

uint64_t RandomNumber() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

// Adds an attribute that identifies the server; variables take precedence.
void AddToResource(const char* key, std::string value, TracingPairs& resource) {
  for (const auto& [known, own] : resource) {
    if (known == key) return;
  }
  resource.emplace_back(key, std::move(value));
}

}  // namespace

std::unique_ptr<Tracing> StartTracing(const std::string& endpoint,
                                      const std::string& version,
                                      SpanMetrics& metrics, Log& log) {
  std::vector<std::string> warnings;
  TracingOptions options = ReadTracingOptions(
      endpoint, [](const char* name) { return std::getenv(name); }, warnings);
  for (const std::string& warning : warnings) {
    log.Write(LogLevel::kWarning, "tracing", {{"warning", warning}});
  }
  if (options.endpoint.target.empty()) {
    if (!endpoint.empty()) {
      log.Write(LogLevel::kWarning, "tracing",
                {{"warning",
                  "OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER turns off what "
                  "otlp_endpoint asks for"}});
    }
    return nullptr;
  }
  AddToResource("service.version", version, options.resource);
  AddToResource("service.instance.id",
                absl::StrCat(absl::Hex(RandomNumber(), absl::kZeroPad16)),
                options.resource);
  auto tracing = std::unique_ptr<Tracing>(new Tracing{
      Tracer(options.sampler, options.queue, metrics, RandomNumber()),
      nullptr});
  auto exporter = OtlpExporter::Start(options, version, tracing->tracer.queue(),
                                      metrics, log);
  if (!exporter.ok()) {
    log.Write(LogLevel::kWarning, "tracing",
              {{"warning", exporter.status().message()}});
    return nullptr;
  }
  tracing->exporter = *std::move(exporter);
  log.Write(LogLevel::kInfo, "tracing",
            {{"endpoint", options.endpoint.target},
             {"follow_parent", options.sampler.follow_parent ? "yes" : "no"},
             {"share", options.sampler.share}});
  return tracing;
}

}  // namespace attend
