#include "engine/runtime/drafter.h"

#include <algorithm>

#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Rows of texts that a draft model reads before one step of the other model. A
// long prompt is read little by little, as others wait for that step.
constexpr int kUnreadRows = Drafter::kStepRows - Drafter::kMostDrafts;
// How much the drafts of a step count in the share that is accepted.
constexpr float kWeightOfStep = 0.1f;

}  // namespace

Drafter::Drafter(const DraftModel& model, Compute& compute)
    : context_(*model.transformer, compute, model.kv_layout(), model.options,
               /*draft=*/nullptr) {
  drafts_.reserve(kMostDrafts);
  plan_.pieces.reserve(kMostDrafts);
}

absl::Status Drafter::Run() {
  ATTEND_CHECK(drafts_.size() <= kMostDrafts);
  int unread_rows = kUnreadRows;
  for (PlanNext(unread_rows); !plan_.pieces.empty(); PlanNext(unread_rows)) {
    RETURN_IF_ERROR(context_.Step(plan_));
  }
  return absl::OkStatus();
}

void Drafter::PlanNext(int& unread_rows) {
  plan_.pieces.clear();
  int blocks = context_.free_blocks();
  int encode_rows = context_.free_encode_rows();
  for (ModelDraft* draft : drafts_) {
    const Work work = draft->Next();
    if (work.phase == Phase::kDone || work.blocks > blocks ||
        work.encode_rows > encode_rows) {
      continue;
    }
    const bool reads = work.phase != Phase::kDecode;
    const int rows = reads ? std::min(work.rows, unread_rows) : work.rows;
    if (rows == 0) continue;
    if (reads) unread_rows -= rows;
    blocks -= work.blocks;
    encode_rows -= work.encode_rows;
    plan_.pieces.push_back({&draft->sequence(), rows});
  }
}

void Drafter::Learn(int64_t accepted, int64_t drafted) {
  if (drafted == 0) return;
  const float share =
      static_cast<float>(accepted) / static_cast<float>(drafted);
  accepted_ += kWeightOfStep * (share - accepted_);
}

}  // namespace attend
