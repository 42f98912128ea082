#include "server/app/log_model.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"

namespace attend {
namespace {

void LogDraft(const ModelSource& source, const Model& model, Log& log) {
  if (source.draft.empty()) return;
  if (!model.draft) {
    log.Write(LogLevel::kWarning, "draft_left_out",
              {{"model", source.name},
               {"draft", source.draft},
               {"warning", "without AVX2 nothing is drafted"}});
    return;
  }
  log.Write(LogLevel::kInfo, "draft_loaded",
            {{"model", source.name},
             {"draft", source.draft},
             {"family", model.draft->family},
             {"cost", model.draft->cost},
             {"kv_cache_bytes", model.draft->kv_cache_bytes}});
}

void LogShortlist(const ModelSource& source, const Model& model, Log& log) {
  if (source.shortlist.empty()) return;
  log.Write(LogLevel::kInfo, "shortlist_loaded",
            {{"model", source.name},
             {"shortlist", source.shortlist},
             {"lines", model.shortlist.lines},
             {"unknown_tokens", model.shortlist.unknown_tokens}});
}

void LogAdapter(const ModelSource& source, const Model& model, Log& log) {
  if (model.adapter.empty()) return;
  log.Write(LogLevel::kInfo, "adapter_merged",
            {{"model", source.name}, {"adapter", model.adapter}});
}

// Lists up to ten.
void LogSkipped(const ModelSource& source, const Model& model, Log& log) {
  const std::vector<std::string>& skipped = model.skipped_tensors;
  if (skipped.empty()) return;
  const auto end = skipped.begin() +
                   static_cast<ptrdiff_t>(std::min<size_t>(skipped.size(), 10));
  log.Write(LogLevel::kInfo, "tensors_skipped",
            {{"model", source.name},
             {"count", static_cast<int64_t>(skipped.size())},
             {"tensors", absl::StrJoin(skipped.begin(), end, ", ")}});
}

void Warn(const ModelSource& source, const char* event,
          const absl::Status& problem, Log& log) {
  if (problem.ok()) return;
  log.Write(LogLevel::kWarning, event,
            {{"model", source.name}, {"warning", problem.message()}});
}

// Tokens of the tokenizer beyond the weights: a text with one is an error.
void LogUnknownTokens(const ModelSource& source, const Model& model, Log& log) {
  const int rows = model.engine->info().source_vocab;
  const int tokens = model.tokenizer->vocab_size(Side::kSource);
  if (tokens <= rows) return;
  log.Write(LogLevel::kWarning, "tokens_beyond_vocabulary",
            {{"model", source.name},
             {"vocabulary", rows},
             {"tokens", tokens},
             {"first", model.tokenizer->Piece(rows, Side::kSource)}});
}

}  // namespace

void LogModel(const ModelSource& source, const Model& model, Log& log) {
  LogDraft(source, model, log);
  LogShortlist(source, model, log);
  LogAdapter(source, model, log);
  LogSkipped(source, model, log);
  LogUnknownTokens(source, model, log);
  Warn(source, "no_text", model.tokenizer->Encode({.text = "a"}).status(), log);
  if (model.chat == nullptr) return;
  Warn(source, model.chat->refusal().ok() ? "no_tools" : "no_chats",
       model.chat->problem(), log);
}

}  // namespace attend
