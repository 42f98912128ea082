#include "server/app/load_models.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "engine/runtime/model.h"
#include "engine/tensor/status_macros.h"
#include "server/app/exceptions.h"
#include "server/app/model_sources.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

void LogDraft(const ModelSource& source, const std::optional<DraftInfo>& draft,
              Log& log) {
  if (source.draft.empty()) return;
  if (!draft) {
    log.Write(LogLevel::kWarning, "draft_left_out",
              {{"model", source.name},
               {"draft", source.draft},
               {"warning", "without AVX-512 nothing is drafted"}});
    return;
  }
  log.Write(LogLevel::kInfo, "draft_loaded",
            {{"model", source.name},
             {"draft", source.draft},
             {"family", draft->family},
             {"cost", draft->cost},
             {"kv_cache_bytes", draft->kv_cache_bytes}});
}

void LogShortlist(const ModelSource& source, const ShortlistCounts& counts,
                  Log& log) {
  if (source.shortlist.empty()) return;
  log.Write(LogLevel::kInfo, "shortlist_loaded",
            {{"model", source.name},
             {"shortlist", source.shortlist},
             {"lines", counts.lines},
             {"unknown_tokens", counts.unknown_tokens}});
}

// Loads a model, and takes all memory that serving it needs.
absl::Status Load(Compute& compute, const ModelSource& source,
                  const EngineOptions& options, ServedModels& models,
                  Log& log) {
  const absl::Time begin = SteadyNow();
  log.Write(LogLevel::kInfo, "loading",
            {{"version", ATTEND_VERSION},
             {"model", source.name},
             {"directory", source.directory}});
  ASSIGN_OR_RETURN(Model model, LoadModel(compute, source.directory,
                                          source.name, options, source.draft));
  const std::string family = model.engine->info().family;
  const std::string dtype = model.engine->info().dtype;
  const std::optional<DraftInfo> draft = model.draft;
  const ShortlistCounts shortlist = model.shortlist;
  const absl::Status takes_text =
      model.tokenizer->Encode({.text = "a"}).status();
  models.Add(source.name, std::move(model));
  LogDraft(source, draft, log);
  LogShortlist(source, shortlist, log);
  log.Write(LogLevel::kInfo, "loaded",
            {{"model", source.name},
             {"family", family},
             {"dtype", dtype},
             {"seconds", SteadyNow() - begin}});
  if (!takes_text.ok()) {
    log.Write(LogLevel::kWarning, "no_text",
              {{"model", source.name}, {"warning", takes_text.message()}});
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LoadModels(const ServerOptions& options, Compute& compute,
                        ServedModels& models, Signals& signals, Log& log) {
  for (ModelSource source : options.models) {
    source.directory = AbsoluteDirectory(source.directory);
    if (!source.draft.empty()) source.draft = AbsoluteDirectory(source.draft);
    const absl::Status status = CatchExceptions([&] {
      return Load(compute, source, options.EngineOf(source), models, log);
    });
    if (signals.stopping()) return absl::OkStatus();
    if (options.models.size() == 1) RETURN_IF_ERROR(status);
    if (status.ok()) continue;
    models.Add(source.name, WithoutDirectories(status, source));
    log.Write(LogLevel::kError, "model_failed",
              {{"model", source.name}, {"error", status.message()}});
  }
  if (models.ready() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("none of the ", options.models.size(),
                   " models could be loaded; see above"));
}

}  // namespace attend
