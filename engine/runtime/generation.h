#ifndef ATTEND_ENGINE_RUNTIME_GENERATION_H_
#define ATTEND_ENGINE_RUNTIME_GENERATION_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/api/output.h"
#include "engine/decoding/scorer.h"
#include "engine/decoding/search.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/runtime/decoder_task.h"
#include "engine/runtime/drafts.h"

namespace attend {

// Generates tokens by a search; before that, may score the prompt.
class Generation : public DecoderTask {
 public:
  // `scorer` scores the prompt after its first token; null: the prompt is not
  // scored. `listed` are the tokens that the search chooses from, see
  // LogitsNeed.
  Generation(std::unique_ptr<Search> search, std::unique_ptr<Scorer> scorer,
             Drafts drafts, std::vector<int> listed)
      : search_(std::move(search)),
        scorer_(std::move(scorer)),
        drafts_(std::move(drafts)),
        listed_(std::move(listed)) {}

  int hypotheses() const override { return search_->rows(); }
  absl::Span<const int> tokens(int hypothesis) const override {
    return search_->tokens(hypothesis);
  }
  absl::Span<const int> prompt(int hypothesis) const override;
  int unscored() const override { return scorer_ ? scorer_->remaining() : 0; }
  int BeginDraft(const DraftLimits& limits) override;
  ModelDraft* model_draft() override { return drafts_.model(); }
  absl::Span<const int> draft() const override {
    return drafted() ? drafts_.tokens() : DecoderTask::draft();
  }
  int accepted() const override { return accepted_; }
  void Release() override { drafts_.Release(); }
  LogitsNeed need(int row) const override;
  void Take(absl::Span<const LogitsView> logits) override;
  std::optional<absl::Span<const int>> parents() const override;
  absl::Status status() const override { return search_->status(); }
  const SequenceOutput& output() const override { return search_->output(); }

 protected:
  // See Search.
  SequenceOutput TakeOutput() { return search_->TakeOutput(); }
  absl::Span<const int> listed() const { return listed_; }

 private:
  // The rows whose logits come next are those of a draft.
  bool drafted() const { return drafts_.tokens().size() > 1; }
  void TakeDrafted(absl::Span<const LogitsView> logits);

  const std::unique_ptr<Search> search_;
  std::unique_ptr<Scorer> scorer_;  // null once the prompt is scored
  Drafts drafts_;
  const std::vector<int> listed_;
  int accepted_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_GENERATION_H_
