#ifndef ATTEND_ENGINE_RUNTIME_DRAFTS_H_
#define ATTEND_ENGINE_RUNTIME_DRAFTS_H_

#include <memory>

#include "absl/types/span.h"
#include "engine/decoding/draft_pace.h"
#include "engine/decoding/prompt_lookup.h"
#include "engine/runtime/model_draft.h"

namespace attend {

// The drafts of one sequence: prompt lookup's first, as they cost nothing, and
// where it finds none, those of a draft model. Not thread-safe.
class Drafts {
 public:
  // Null: does not draft.
  Drafts(std::unique_ptr<PromptLookup> lookup,
         std::unique_ptr<ModelDraft> model);

  // Begins a draft after `tokens`. Returns how many tokens it has at most.
  // `with_model`: the draft model may be asked.
  int Begin(absl::Span<const int> tokens, const DraftLimits& limits,
            bool with_model);
  // No draft.
  void BeginNone();
  // The draft model's part of the draft that has begun; null: it has none.
  ModelDraft* model() const { return by_model_ ? model_.get() : nullptr; }

  // The last token, then those that were drafted. Fewer than two: there is no
  // draft.
  absl::Span<const int> tokens() const;
  // Ends the draft, whose first `accepted` tokens did follow.
  void Learn(int accepted);

  // Gives the draft model's memory back.
  void Release();

 private:
  std::unique_ptr<PromptLookup> lookup_;
  std::unique_ptr<ModelDraft> model_;
  bool by_model_ = false;
  absl::Span<const int> found_;  // by lookup_
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_DRAFTS_H_
