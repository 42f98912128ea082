#include "engine/runtime/decoder_rows.h"

#include <algorithm>
#include <utility>

#include "engine/tensor/check.h"
#include "engine/tensor/finite.h"

namespace attend {

DecoderRows::DecoderRows(std::unique_ptr<DecoderTask> task,
                         const Options& options)
    : task_(std::move(task)),
      options_(options),
      given_(Tokens()),
      tables_(options.max_hypotheses, options.max_tokens,
              options.block_tokens) {}

int DecoderRows::FrequencyKindAt(int tokens) const {
  const RotarySpec* const by_length = options_.by_length;
  return by_length == nullptr ? 0 : by_length->FrequencyKind(given_, tokens);
}

int DecoderRows::PromptLeft(int hypothesis) const {
  return static_cast<int>(task_->prompt(hypothesis).size()) -
         tables_[hypothesis].tokens();
}

int DecoderRows::PromptLeft() const {
  int rows = 0;
  for (int i = 0; i < task_->hypotheses(); ++i) rows += PromptLeft(i);
  return rows;
}

int DecoderRows::PromptBlocks() const {
  int blocks = 0;
  for (int i = 0; i < task_->hypotheses(); ++i) {
    const int left = PromptLeft(i);
    if (left > 0) blocks += tables_[i].BlocksToAppend(left);
  }
  return blocks;
}

Work DecoderRows::Next() const {
  if (const int rows = PromptLeft(); rows > 0) {
    return {.phase = Phase::kPrompt, .rows = rows, .blocks = PromptBlocks()};
  }
  const int rows = task_->hypotheses();
  return {.phase = Phase::kDecode,
          .rows = rows,
          .blocks = tables_.BlocksToAppendOne(rows)};
}

int DecoderRows::max_blocks() const {
  const int tokens = options_.block_tokens;
  return options_.max_hypotheses *
         ((options_.max_tokens + tokens - 1) / tokens);
}

int DecoderRows::TokensThatFit(int known, int blocks) const {
  const int others = options_.max_tokens - known;
  return blocks / options_.max_hypotheses * options_.block_tokens - others;
}

int DecoderRows::Plan(BlockPool& pool, int rows, StepBatch& batch,
                      StepCounts& counts) {
  if (tables_[0].tokens() == 0) Begin(pool, counts);
  const int first_row = batch.rows();
  const bool decode = PromptLeft() == 0;
  drafted_ = 0;
  if (decode && rows == 1) {
    AddRows(0, DraftedTokens(counts), batch);
    return 1 + drafted_;
  }
  int left = rows;
  for (int i = 0; i < task_->hypotheses() && left > 0; ++i) {
    const absl::Span<const int> tokens = NextTokens(i, decode, left, counts);
    if (tokens.empty()) continue;
    AddRows(i, tokens, batch);
    left -= static_cast<int>(tokens.size());
  }
  ATTEND_CHECK(!decode || left == 0);
  const int planned = batch.rows() - first_row;
  if (task_->unscored() == 0) return decode ? planned : 0;
  return std::clamp(task_->unscored() - PromptLeft(), 0, planned);
}

void DecoderRows::Begin(BlockPool& pool, StepCounts& counts) {
  tables_.Attach(pool);
  if (!options_.shares) return;
  // All hypotheses find their sealed blocks before the first of them takes free
  // blocks: a sealed block that is free might be among these.
  for (int i = 0; i < task_->hypotheses(); ++i) {
    counts.queried_tokens += static_cast<int64_t>(task_->prompt(i).size());
    ShareSealed(i, counts);
  }
}

absl::Span<const int> DecoderRows::NextTokens(int hypothesis, bool decode,
                                              int rows, StepCounts& counts) {
  if (decode) return task_->tokens(hypothesis).last(1);
  if (PromptLeft(hypothesis) == 0) return {};
  if (hypothesis > 0) ShareWithEarlier(hypothesis);
  ShareSealed(hypothesis, counts);
  const absl::Span<const int> tokens =
      task_->prompt(hypothesis).subspan(tables_[hypothesis].tokens());
  return tokens.first(std::min<size_t>(tokens.size(), rows));
}

void DecoderRows::BeginDraft(DraftRoom& room) {
  if (PromptLeft() > 0 || task_->hypotheses() != 1) return;
  const BlockTable& table = tables_[0];
  const int computed = table.tokens() + 1;  // with the row of the last token
  const int held =
      options_.block_tokens - 1 - table.tokens() % options_.block_tokens;
  int most = std::min({room.rows, options_.max_tokens - computed,
                       held + room.blocks * options_.block_tokens});
  // Drafted tokens would change the length.
  if (options_.by_length != nullptr) most = 0;
  const int drafted =
      task_->BeginDraft({.most = most,
                         .least_accepted = room.least_accepted,
                         .model_accepted = room.model_accepted});
  room.rows -= drafted;
  if (drafted > held) room.blocks -= table.BlocksToAppend(1 + drafted);
}

absl::Span<const int> DecoderRows::DraftedTokens(StepCounts& counts) {
  const absl::Span<const int> tokens = task_->draft();
  drafted_ = static_cast<int>(tokens.size()) - 1;
  drafted_by_model_ = task_->model_draft() != nullptr;
  counts.draft_tokens += drafted_;
  if (drafted_by_model_) counts.model_draft_tokens += drafted_;
  return tokens;
}

void DecoderRows::AddRows(int hypothesis, absl::Span<const int> tokens,
                          StepBatch& batch) {
  const int rows = static_cast<int>(tokens.size());
  BlockTable& table = tables_[hypothesis];
  const int first_token = table.PrepareAppend(rows);
  // Blocks are sealed before the step fills them, so that prompts of the same
  // step share them. Not for a single row: decode rows may be computed as
  // shares, where no row reads what another row of the step writes. Nor for
  // drafted tokens, which may not follow.
  if (rows > 1 && drafted_ == 0) SealTable(hypothesis);
  batch.AddTokens(tokens, first_token, table.blocks());
  if (options_.by_length == nullptr) return;
  for (int i = 0; i < rows; ++i) {
    batch.AddLength(
        options_.by_length->LengthOf(first_token + i, given_, Tokens()));
  }
}

absl::Span<const int> DecoderRows::SharedPrompt(int hypothesis) const {
  const absl::Span<const int> prompt = task_->prompt(hypothesis);
  const int computed = std::max(task_->unscored(), 1);
  return prompt.first(std::max(static_cast<int>(prompt.size()) - computed, 0));
}

void DecoderRows::ShareSealed(int hypothesis, StepCounts& counts) {
  if (!options_.shares) return;
  counts.hit_tokens +=
      tables_[hypothesis].ShareSealed(SharedPrompt(hypothesis), Root());
}

void DecoderRows::ShareWithEarlier(int hypothesis) {
  const absl::Span<const int> tokens = task_->prompt(hypothesis);
  int best = 0;
  int best_tokens = 0;
  for (int other = 0; other < hypothesis; ++other) {
    const absl::Span<const int> theirs = task_->prompt(other);
    const auto [end, their_end] = std::mismatch(tokens.begin(), tokens.end(),
                                                theirs.begin(), theirs.end());
    const int common = static_cast<int>(end - tokens.begin());
    if (common > best_tokens) {
      best = other;
      best_tokens = common;
    }
  }
  // Full blocks only: a partly filled block would be copied, maybe before this
  // step has computed the rows in it.
  best_tokens = best_tokens / options_.block_tokens * options_.block_tokens;
  if (best_tokens > tables_[hypothesis].tokens()) {
    tables_[hypothesis].ShareFrom(tables_[best], best_tokens);
  }
}

void DecoderRows::SealTable(int hypothesis) {
  if (!options_.shares) return;
  const int computed = tables_[hypothesis].tokens();
  tables_[hypothesis].Seal(task_->tokens(hypothesis).first(computed), Root());
}

void DecoderRows::Rewind(int tokens) {
  if (tables_[0].tokens() > tokens) tables_[0].Truncate(tokens);
}

void DecoderRows::Seal() {
  // Then a later step does, when it is known what follows.
  if (drafted_ > 0 || task_->tentative()) return;
  for (int i = 0; i < task_->hypotheses(); ++i) SealTable(i);
}

void DecoderRows::Take(absl::Span<const LogitsView> logits) {
  const auto end =
      std::find_if_not(logits.begin(), logits.end(),
                       [](const LogitsView& row) { return row.finite(); });
  // A row of a drafted token may be none that counts.
  if (drafted_ > 0) logits = logits.first(end - logits.begin());
  finite_ &= drafted_ > 0 ? !logits.empty() : end == logits.end();
  if (finite_) task_->Take(logits);
}

void DecoderRows::TakeVector(absl::Span<const float> values) {
  finite_ &= AllFinite(values);
  if (finite_) task_->TakeVector(values);
}

void DecoderRows::FollowParents(StepCounts& counts) {
  status_ = task_->status();
  if (!finite_ || !status_.ok()) return;
  if (drafted_ > 0) {
    tables_[0].Truncate(tables_[0].tokens() - drafted_ + task_->accepted());
    counts.accepted_draft_tokens += task_->accepted();
    if (drafted_by_model_) {
      counts.accepted_model_draft_tokens += task_->accepted();
    }
    drafted_ = 0;
  }
  const std::optional<absl::Span<const int>> parents = task_->parents();
  if (parents) tables_.Reorder(*parents);
  const absl::StatusOr<bool> restarts = task_->Restart();
  status_ = restarts.status();
  if (!restarts.ok()) return;
  if (*restarts) return tables_.Clear();
  if (!parents || task_->output().finished) return;
  const int kind = FrequencyKindAt(tables_[0].tokens());
  if (FrequencyKindAt(Tokens()) != kind) tables_.Clear();
}

}  // namespace attend
