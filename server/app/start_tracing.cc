#include "server/app/start_tracing.h"

#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "server/tracing/tracing_options.h"

namespace attend {
namespace {

uint64_t RandomNumber() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

// What says which server it was; variables win.
void AddToResource(const char* key, std::string value, TracingPairs& resource) {
  for (const auto& [known, own] : resource) {
    if (known == key) return;
  }
  resource.emplace_back(key, std::move(value));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tracing>> StartTracing(
    const std::string& endpoint, const std::string& version,
    SpanMetrics& metrics, Log& log) {
  std::vector<std::string> warnings;
  TracingOptions options = ReadTracingOptions(
      endpoint, [](const char* name) { return std::getenv(name); }, warnings);
  for (const std::string& warning : warnings) {
    log.Write(LogLevel::kWarning, "tracing", {{"warning", warning}});
  }
  if (options.endpoint.target.empty()) return nullptr;
  AddToResource("service.version", version, options.resource);
  AddToResource("service.instance.id",
                absl::StrCat(absl::Hex(RandomNumber(), absl::kZeroPad16)),
                options.resource);
  auto tracing = std::unique_ptr<Tracing>(new Tracing{
      Tracer(options.sampler, options.queue, metrics, RandomNumber()),
      nullptr});
  ASSIGN_OR_RETURN(tracing->exporter,
                   OtlpExporter::Start(options, version,
                                       tracing->tracer.queue(), metrics, log));
  log.Write(LogLevel::kInfo, "tracing",
            {{"endpoint", options.endpoint.target},
             {"follow_parent", options.sampler.follow_parent ? "yes" : "no"},
             {"share", options.sampler.share}});
  return tracing;
}

}  // namespace attend
