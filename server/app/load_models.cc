#include "server/app/load_models.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "engine/compute/op_timer.h"
#include "engine/runtime/model.h"
#include "engine/tensor/status_macros.h"
#include "server/app/exceptions.h"
#include "server/app/log_model.h"
#include "server/app/model_paths.h"
#include "server/app/model_sources.h"
#include "server/hub/fetch_model.h"
#include "server/hub/hub_reference.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

absl::StatusOr<std::string> FetchFromHub(const Loading& to,
                                         const ModelSource& source) {
  ASSIGN_OR_RETURN(const HubReference reference, ParseHubReference(source.hub));
  return FetchModel(to.options.hub, reference, source.name, to.stopping,
                    to.log);
}

absl::Status TryLoad(const Loading& to, const ModelSource& source) {
  const absl::Time begin = SteadyNow();
  const OpTimer timer({.name = "load_model"});
  to.log.Write(LogLevel::kInfo, "loading",
               {{"version", ATTEND_VERSION},
                {"model", source.name},
                {"model_version", source.version},
                {"directory", source.directory}});
  ASSIGN_OR_RETURN(Model model,
                   LoadModel(to.compute, source.directory, source.name,
                             to.options.EngineOf(source), source.draft));
  const std::string family = model.engine->info().family;
  const std::string dtype = model.engine->info().dtype;
  LogModel(source, model, to.log);
  for (const std::string& warning : model.warnings) {
    to.log.Write(LogLevel::kWarning, "model_file",
                 {{"model", source.name},
                  {"model_version", source.version},
                  {"warning", warning}});
  }
  to.models.Add(source.name, std::move(model), source.version, /*warm=*/true);
  to.log.Write(LogLevel::kInfo, "loaded",
               {{"model", source.name},
                {"model_version", source.version},
                {"family", family},
                {"dtype", dtype},
                {"seconds", SteadyNow() - begin}});
  return absl::OkStatus();
}

}  // namespace

absl::Status LoadOne(const Loading& to, ModelSource& source,
                     absl::FunctionRef<bool()> make_room) {
  for (std::string* path : {&source.draft, &source.adapter}) {
    if (!path->empty()) *path = AbsoluteDirectory(*path);
  }
  absl::Status status = CatchExceptions([&]() -> absl::Status {
    if (!source.hub.empty()) {
      ASSIGN_OR_RETURN(source.directory, FetchFromHub(to, source));
    }
    source.directory = AbsoluteDirectory(source.directory);
    return absl::OkStatus();
  });
  if (status.ok()) {
    do {
      status = CatchExceptions([&] { return TryLoad(to, source); });
    } while (absl::IsResourceExhausted(status) && !to.stopping() &&
             make_room());
  }
  if (status.ok()) to.metrics.OnLoad(source.name, true);
  return status;
}

absl::Status ReportFailure(const Loading& to, const ModelSource& source,
                           const absl::Status& status) {
  to.log.Write(LogLevel::kError, "model_failed",
               {{"model", source.name},
                {"error", status.message()},
                {"model_version", source.version}});
  const absl::Status seen = WithoutDirectories(status, source);
  if (source.hub.empty()) return seen;
  return absl::Status(
      seen.code(), absl::StrReplaceAll(seen.message(), {{to.options.hub.cache,
                                                         "the hub's cache"}}));
}

absl::Status LoadModels(const Loading& to, Signals& signals) {
  for (ModelSource source : to.options.models) {
    const absl::Status status = LoadOne(to, source, [] { return false; });
    if (signals.stopping()) return absl::OkStatus();
    if (to.options.models.size() == 1) RETURN_IF_ERROR(status);
    if (status.ok()) continue;
    to.models.Add(source.name, ReportFailure(to, source, status));
    to.metrics.OnLoad(source.name, false);
  }
  if (to.models.ready() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("none of the ", to.options.models.size(),
                     " models could be loaded; see above"));
  }
  for (const ModelAlias& alias : to.options.aliases) {
    RETURN_IF_ERROR(to.models.SetAlias(alias));
  }
  return absl::OkStatus();
}

}  // namespace attend
