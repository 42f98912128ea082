#include "engine/runtime/transformer_sequence.h"

#include <algorithm>
#include <utility>

#include "engine/tensor/check.h"

namespace attend {

TransformerSequence::TransformerSequence(const Transformer& transformer,
                                         int block_tokens, Parts parts)
    : transformer_(transformer),
      block_tokens_(block_tokens),
      source_(std::move(parts.source)),
      table_positions_(std::move(parts.table_positions)),
      search_(std::move(parts.search)),
      scorer_(std::move(parts.scorer)),
      encoder_task_(std::move(parts.encoder_task)),
      known_(std::move(parts.prompt)),
      max_target_tokens_(parts.max_target_tokens),
      max_hypotheses_(parts.max_hypotheses),
      prefix_cache_(parts.prefix_cache),
      by_length_(encoder_task_ == nullptr
                     ? transformer.spec().decoder->RotaryByLength()
                     : nullptr),
      given_(encoder_task_ == nullptr ? Tokens() : 0),
      encode_({.ids = source_.ids,
               .positions = source_.positions,
               .table_positions = table_positions_,
               .types = source_.types},
              SourceBlocks()),
      encoded_(source_.ids.empty()),
      cross_(CrossBlocks() * block_tokens, block_tokens),
      tables_(max_hypotheses_, max_target_tokens_, block_tokens) {
  ATTEND_CHECK((search_ != nullptr || scorer_ != nullptr) !=
               (encoder_task_ != nullptr));
}

const SequenceOutput& TransformerSequence::output() const {
  if (encoder_task_ != nullptr) return encoder_task_->output();
  return search_ != nullptr ? search_->output() : scorer_->output();
}

int TransformerSequence::Hypotheses() const {
  return search_ != nullptr ? search_->rows() : 1;
}

int TransformerSequence::Tokens() const {
  return static_cast<int>(search_ != nullptr ? search_->tokens(0).size()
                                             : known_.size());
}

int TransformerSequence::KindAt(int tokens) const {
  return by_length_ == nullptr ? 0 : by_length_->KindOf(given_, tokens);
}

absl::Span<const int> TransformerSequence::Prompt(int row) const {
  if (search_ == nullptr) return known_;
  const absl::Span<const int> tokens = search_->tokens(row);
  return tokens.first(tokens.size() - 1);
}

int TransformerSequence::PromptRowsLeft() const {
  int rows = 0;
  for (int i = 0; i < Hypotheses(); ++i) {
    rows += static_cast<int>(Prompt(i).size()) - tables_[i].tokens();
  }
  return rows;
}

int TransformerSequence::PromptBlocks() const {
  int blocks = 0;
  for (int i = 0; i < Hypotheses(); ++i) {
    const int left = static_cast<int>(Prompt(i).size()) - tables_[i].tokens();
    if (left > 0) blocks += tables_[i].BlocksToAppend(left);
  }
  return blocks;
}

Work TransformerSequence::Next() const {
  if (output().finished) return {};
  if (!encoded_) {
    const bool uses_blocks = encoder_task_ == nullptr;
    if (encode_.started()) {
      return {.phase = Phase::kEncode,
              .rows = transformer_.EncodeRowsLeft(encode_),
              .uses_blocks = uses_blocks};
    }
    return {.phase = Phase::kEncode,
            .rows = static_cast<int>(source_.ids.size()),
            .blocks = CrossBlocks(),
            .encode_rows = SourceBlocks() * block_tokens_,
            .uses_blocks = uses_blocks};
  }
  if (const int rows = PromptRowsLeft(); rows > 0) {
    return {.phase = Phase::kPrompt, .rows = rows, .blocks = PromptBlocks()};
  }
  return {.phase = Phase::kDecode,
          .rows = Hypotheses(),
          .blocks = tables_.BlocksToAppendOne(Hypotheses())};
}

int TransformerSequence::max_blocks() const {
  return CrossBlocks() + max_hypotheses_ * BlocksFor(max_target_tokens_);
}

int TransformerSequence::TokensThatFit(int tokens, int blocks) const {
  if (CrossBlocks() > 0) {
    const int target = max_hypotheses_ * BlocksFor(max_target_tokens_);
    return (blocks - target) * block_tokens_;
  }
  // The prompt is the beginning of each hypothesis.
  const int others = max_target_tokens_ - tokens;
  return blocks / max_hypotheses_ * block_tokens_ - others;
}

int TransformerSequence::blocks() const {
  int blocks = tables_.own_blocks();
  for (size_t i = 0; i < cross_.blocks().size(); ++i) {
    if (cross_.references(static_cast<int>(i)) == 1) ++blocks;
  }
  return blocks;
}

void TransformerSequence::Preempt() {
  encode_.Release();
  encoded_ = source_.ids.empty();
  cross_.Clear();
  tables_.Clear();
}

void TransformerSequence::Attach(BlockPool& pool) {
  cross_.Attach(pool);
  tables_.Attach(pool);
}

std::optional<EncodePiece> TransformerSequence::PlanEncode(EncodeBuffer& buffer,
                                                           BlockPool& pool,
                                                           int rows,
                                                           StepCounts& counts) {
  if (!encode_.started()) {
    Attach(pool);
    if (SharesSource()) {
      counts.queried_tokens += encode_.rows();
      encoded_ = cross_.ShareSource(source_.ids);
      counts.hit_tokens += cross_.tokens();
      if (encoded_) return std::nullopt;
    }
    if (CrossBlocks() > 0) cross_.PrepareAppend(encode_.rows());
    encode_.Start(buffer);
  }
  return EncodePiece{.state = &encode_,
                     .cross_blocks = cross_.blocks(),
                     .cross_layout = &pool.layout(),
                     .rows = rows};
}

void TransformerSequence::FinishEncode() {
  if (SharesSource()) cross_.SealSource(source_.ids);
  encode_.Release();
  encoded_ = true;
}

int TransformerSequence::PlanRows(BlockPool& pool, int rows, RowLists lists) {
  if (source_.ids.empty() && tables_[0].tokens() == 0) {
    Attach(pool);
    // All at once, before room for the first one's rows is made of free blocks.
    for (int i = 0; SharesPrompt() && i < Hypotheses(); ++i) {
      lists.counts.queried_tokens += static_cast<int64_t>(Prompt(i).size());
      ShareSealed(i, lists.counts);
    }
  }
  const int first_row = static_cast<int>(lists.ids.size());
  const bool decode = PromptRowsLeft() == 0;
  int left = rows;
  for (int i = 0; i < Hypotheses() && left > 0; ++i) {
    absl::Span<const int> tokens;
    if (decode) {
      tokens = search_->tokens(i).last(1);
    } else {
      const absl::Span<const int> prompt = Prompt(i);
      if (tables_[i].tokens() == static_cast<int>(prompt.size())) continue;
      if (i > 0) SharePrefix(i);
      ShareSealed(i, lists.counts);
      tokens = prompt.subspan(tables_[i].tokens());
      tokens = tokens.first(std::min<size_t>(tokens.size(), left));
    }
    if (tokens.empty()) continue;
    PlanRow(i, tokens, lists);
    left -= static_cast<int>(tokens.size());
  }
  ATTEND_CHECK(!decode || left == 0);
  const int planned = static_cast<int>(lists.ids.size()) - first_row;
  if (planned > 0 && !source_.ids.empty()) {
    // All hypotheses see the same source: one piece reads its keys once.
    lists.cross_pieces.push_back({.first_row = first_row,
                                  .rows = planned,
                                  .blocks = cross_.blocks(),
                                  .keys = cross_.tokens(),
                                  .causal = false,
                                  .position = 0,
                                  .key_positions = {}});
  }
  if (scorer_ == nullptr) return decode ? planned : 0;
  const int not_scored = scorer_->remaining() - PromptRowsLeft();
  return std::clamp(not_scored, 0, planned);
}

void TransformerSequence::PlanRow(int row, absl::Span<const int> tokens,
                                  RowLists lists) {
  const int first_row = static_cast<int>(lists.ids.size());
  const int rows = static_cast<int>(tokens.size());
  BlockTable& table = tables_[row];
  const int first_token = table.PrepareAppend(rows);
  // Prompts that come together share already what they compute together. Not
  // single rows: steps of nothing else compute them apart.
  if (rows > 1) SealTable(row);
  for (int i = 0; i < rows; ++i) {
    lists.ids.push_back(tokens[i]);
    lists.positions.push_back(first_token + i);
    if (by_length_ != nullptr) {
      lists.lengths.push_back(
          by_length_->LengthOf(first_token + i, given_, Tokens()));
    }
  }
  lists.writes.push_back({.first_row = first_row,
                          .rows = rows,
                          .blocks = table.blocks(),
                          .first_token = first_token});
  lists.self_pieces.push_back({.first_row = first_row,
                               .rows = rows,
                               .blocks = table.blocks(),
                               .keys = first_token + 1,
                               .causal = true,
                               .position = first_token,
                               .key_positions = {}});
}

absl::Span<const int> TransformerSequence::SharedPrompt(int row) const {
  const absl::Span<const int> prompt = Prompt(row);
  const int computed = scorer_ != nullptr ? scorer_->remaining() : 1;
  return prompt.first(std::max(static_cast<int>(prompt.size()) - computed, 0));
}

void TransformerSequence::ShareSealed(int row, StepCounts& counts) {
  if (!SharesPrompt()) return;
  counts.hit_tokens += tables_[row].ShareSealed(SharedPrompt(row), Root());
}

void TransformerSequence::SealTable(int row) {
  if (!SharesPrompt()) return;
  const absl::Span<const int> tokens =
      search_ != nullptr ? search_->tokens(row) : known_;
  tables_[row].Seal(tokens.first(tables_[row].tokens()), Root());
}

void TransformerSequence::Seal() {
  for (int i = 0; i < Hypotheses(); ++i) SealTable(i);
}

void TransformerSequence::SharePrefix(int row) {
  const absl::Span<const int> tokens = Prompt(row);
  int best = 0;
  int best_tokens = 0;
  for (int other = 0; other < row; ++other) {
    const absl::Span<const int> theirs = Prompt(other);
    const auto [end, their_end] = std::mismatch(tokens.begin(), tokens.end(),
                                                theirs.begin(), theirs.end());
    const int common = static_cast<int>(end - tokens.begin());
    if (common > best_tokens) {
      best = other;
      best_tokens = common;
    }
  }
  // Full blocks only: the rows that fill them may be computed in this very
  // step, so that a copy of a part of one would come too early.
  best_tokens = best_tokens / block_tokens_ * block_tokens_;
  if (best_tokens > tables_[row].tokens()) {
    tables_[row].ShareFrom(tables_[best], best_tokens);
  }
}

LogitsNeed TransformerSequence::need(int row) const {
  return scorer_ != nullptr ? scorer_->need() : search_->needs()[row];
}

void TransformerSequence::TakeLogits(absl::Span<const LogitsView> logits) {
  if (scorer_ == nullptr) return search_->Advance(logits);
  scorer_->Advance(logits);
  if (search_ == nullptr || scorer_->remaining() > 0) return;
  search_->SetPrompt(scorer_->TakeChoice());
  scorer_.reset();
}

void TransformerSequence::FinishRows() {
  // The logits may have been those of a prompt: then the search has not begun.
  if (search_ == nullptr ||
      static_cast<int>(search_->parents().size()) < search_->rows()) {
    return;
  }
  tables_.Reorder(search_->parents().first(search_->rows()));
  if (output().finished) return;
  const int tokens = Tokens();
  if (KindAt(tokens) == KindAt(tables_[0].tokens())) return;
  tables_.Clear();
}

}  // namespace attend
