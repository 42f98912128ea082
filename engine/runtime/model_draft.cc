#include "engine/runtime/model_draft.h"

#include <algorithm>
#include <utility>

#include "engine/ops/attention/kv_layout.h"

namespace attend {
namespace {

// See DraftPace. For a trial the draft model reads all that came since the last
// one, so trials are rarer than those of prompt lookup, and rarest where other
// sequences had no use of them.
constexpr DraftPace::Trials kTrials = {.first = 32, .most = 256};
constexpr DraftPace::Trials kRareTrials = {.first = 128, .most = 256};
constexpr float kRareBelow = 0.15f;

std::unique_ptr<DecoderRows> MakeDraftRows(std::unique_ptr<DraftTask> task,
                                           const ModelDraft::Options& options) {
  return std::make_unique<DecoderRows>(
      std::move(task),
      DecoderRows::Options{.block_tokens = KvLayout::kBlockTokens,
                           .max_hypotheses = 1,
                           .max_tokens = options.max_tokens,
                           .shares = options.shares,
                           .salt = options.salt});
}

}  // namespace

ModelDraft::ModelDraft(std::unique_ptr<SourceEncode> source,
                       const Options& options)
    : ModelDraft(
          std::move(source),
          std::make_unique<DraftTask>(options.max_tokens + 1, options.vocab),
          options) {}

ModelDraft::ModelDraft(std::unique_ptr<SourceEncode> source,
                       std::unique_ptr<DraftTask> task, const Options& options)
    : options_(options),
      task_(*task),
      sequence_(std::move(source), MakeDraftRows(std::move(task), options)),
      pace_(kTrials) {}

int ModelDraft::Want(absl::Span<const int> text, const DraftLimits& limits) {
  wanted_ = 0;
  if (!sequence_.decoder_rows()->finite()) return 0;
  if (!begun_) {
    pace_ =
        DraftPace(limits.model_accepted < kRareBelow ? kRareTrials : kTrials,
                  limits.model_accepted);
  }
  begun_ = true;
  const int tokens = static_cast<int>(text.size());
  // The row of the last drafted token is not computed.
  const int most = std::min(limits.most, options_.max_tokens - tokens + 1);
  wanted_ = pace_.Next(
      {.most = most, .least_accepted = limits.least_accepted + options_.cost});
  if (wanted_ == 0) return 0;
  const int same = task_.Follow(text);
  if (!task_.known()) return wanted_ = 0;
  // The row of the last token gives the first token of the draft.
  sequence_.decoder_rows()->Rewind(std::min(same, tokens - 1));
  return wanted_;
}

Work ModelDraft::Next() const {
  const int drafted = static_cast<int>(task_.continuation().size()) - 1;
  if (drafted >= wanted_ || !task_.known() ||
      !sequence_.decoder_rows()->finite()) {
    return {};
  }
  return sequence_.Next();
}

absl::Span<const int> ModelDraft::Drafted() const {
  return wanted_ == 0 ? absl::Span<const int>() : task_.continuation();
}

void ModelDraft::Learn(int accepted) {
  pace_.Learn(accepted, static_cast<int>(task_.continuation().size()) - 1);
}

void ModelDraft::Clear() {
  wanted_ = 0;
  sequence_.Preempt();
}

}  // namespace attend
