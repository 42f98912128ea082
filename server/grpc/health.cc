#include "server/grpc/health.h"

#include "server/observability/log.h"

namespace attend {

void Health::Tell(bool serving, grpc::HealthCheckServiceInterface& to) {
  bool any = false;
  for (const ModelEntry& model : service_.models) {
    const bool ready = model.ready();
    any |= ready;
    if (!Set(model.name, serving && ready, to) || !serving) continue;
    model.served->metrics.SetReady(ready);
    service_.log.Write(ready ? LogLevel::kInfo : LogLevel::kWarning,
                       ready ? "model_recovered" : "model_failing",
                       {{"model", model.name}});
  }
  serving_ = serving && any;
  Set("", serving_, to);
  for (const std::string& name : names_) Set(name, serving_, to);
}

bool Health::Set(const std::string& name, bool serving,
                 grpc::HealthCheckServiceInterface& to) {
  const auto [told, is_new] = told_.emplace(name, serving);
  if (!is_new && told->second == serving) return false;
  told->second = serving;
  to.SetServingStatus(name, serving);
  return !is_new;
}

}  // namespace attend
