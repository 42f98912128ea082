#ifndef ATTEND_ENGINE_RUNTIME_DRAFTER_H_
#define ATTEND_ENGINE_RUNTIME_DRAFTER_H_

#include <vector>

#include "absl/status/status.h"
#include "engine/api/engine.h"
#include "engine/compute/compute.h"
#include "engine/runtime/draft_model.h"
#include "engine/runtime/model_draft.h"
#include "engine/runtime/transformer_context.h"

namespace attend {

// Computes the drafts of a draft model: before a step of the other model, some
// steps of its own, on the same team, each for all sequences that want a draft.
// Belongs to one worker. A step allocates nothing.
class Drafter {
 public:
  // The most rows of one of its steps.
  static constexpr int kStepRows = 128;

  // The arguments must outlive the drafter.
  Drafter(const DraftModel& model, Compute& compute);

  // Begins a step of the other model.
  void Clear() { drafts_.clear(); }
  // The next Run() computes this draft; at most kMostDrafts are added.
  void Add(ModelDraft& draft) { drafts_.push_back(&draft); }
  // Computes the drafts. One whose sequence has many rows that the draft model
  // has not read yet, or for which memory is short, may be shorter than wanted.
  absl::Status Run();

  // Of the drafts of late, the share that was accepted.
  float accepted() const { return accepted_; }
  // Of `drafted` tokens `accepted` were accepted.
  void Learn(int64_t accepted, int64_t drafted);

  static constexpr int kMostDrafts = 8;

 private:
  // Fills plan_ with the next rows of each draft, of which at most
  // `unread_rows` are rows of texts. Takes them from `unread_rows`.
  void PlanNext(int& unread_rows);

  TransformerContext context_;
  std::vector<ModelDraft*> drafts_;
  StepPlan plan_;
  float accepted_ = 0.5f;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_DRAFTER_H_
