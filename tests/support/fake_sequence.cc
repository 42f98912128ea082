#include "tests/support/fake_sequence.h"

#include <algorithm>
#include <utility>

#include "engine/tensor/check.h"
#include "tests/support/fake_results.h"

namespace attend {

FakeSequence::FakeSequence(EngineRequest request,
                           const FakeEngineOptions& options,
                           std::atomic<int>& live)
    : task_(std::move(request.task)),
      info_(options.info),
      block_tokens_(options.block_tokens),
      broken_source_(options.broken_source),
      adapter_(request.adapter),
      live_(live) {
  if (auto* prompt = std::get_if<Prompt>(&request.input)) {
    prompt_ = std::move(prompt->ids);
  } else {
    source_ = std::get<SourceTokens>(std::move(request.input));
  }
  if (const auto* task = std::get_if<GenerateTask>(&task_)) {
    params_ = task->params;
  }
  hypotheses_ = std::max(params_.num_beams, params_.num_return_sequences);
  output_.choices.resize(std::max(1, params_.num_return_sequences));
  for (ChoiceOutput& choice : output_.choices) {
    choice.tokens.reserve(new_tokens());
    choice.log_probs.reserve(new_tokens());
  }
  live_ += 1;
}

FakeSequence::~FakeSequence() {
  Release();
  live_ -= 1;
}

absl::Status FakeSequence::status() const {
  const bool encoded = encoded_ > 0 && encoded_ == broken_source_;
  return encoded ? absl::InternalError("not finite") : absl::OkStatus();
}

Work FakeSequence::Next() const {
  const int source = static_cast<int>(source_.ids.size());
  if (output_.finished) return {};
  if (!encodes_only() && new_tokens() == 0) return {};
  if (encoded_ < source) {
    return {.phase = Phase::kEncode,
            .rows = source - encoded_,
            .blocks = encoded_ > 0 ? 0 : CrossBlocks(),
            .encode_rows = encoded_ > 0 ? 0 : source};
  }
  if (computed_ < known()) {
    return {.phase = Phase::kPrompt,
            .rows = known() - computed_,
            .blocks = SelfBlocks(known()) - self_blocks_,
            .encode_rows = 0};
  }
  return {.phase = Phase::kDecode,
          .rows = hypotheses_,
          .blocks = SelfBlocks(computed_ + 1) - self_blocks_,
          .encode_rows = 0};
}

int FakeSequence::max_blocks() const {
  if (encodes_only()) return 0;
  return CrossBlocks() + SelfBlocks(before() + prefix() + new_tokens());
}

void FakeSequence::Compute(FakeMemory& memory, int rows) {
  ATTEND_CHECK(memory_ == nullptr || memory_ == &memory);
  memory_ = &memory;
  const Work work = Next();
  ATTEND_CHECK(work.phase != Phase::kDone && rows >= 1);
  ATTEND_CHECK(rows <= work.rows);
  if (work.phase == Phase::kEncode) return Encode(work, rows);
  ATTEND_CHECK(work.phase == Phase::kPrompt || rows == work.rows);
  memory.TakeBlocks(work.blocks);
  self_blocks_ += work.blocks;
  if (work.phase == Phase::kPrompt) {
    computed_ += rows;
    if (is_score()) Emit(std::max(computed_ - before(), 0) - generated());
  } else {
    computed_ += 1;
    Emit(1);
  }
}

void FakeSequence::Release() {
  if (memory_ == nullptr) return;
  memory_->TakeBlocks(-blocks());
  memory_->TakeEncodeRows(-encode_rows_);
  cross_blocks_ = self_blocks_ = encode_rows_ = encoded_ = computed_ = 0;
  memory_ = nullptr;
}

int FakeSequence::new_tokens() const {
  return is_score() ? static_cast<int>(std::get<ScoreTask>(task_).target.size())
                    : params_.max_new_tokens;
}

int FakeSequence::known() const {
  return before() + (is_score() ? new_tokens() : prefix() + generated());
}

void FakeSequence::Encode(const Work& work, int rows) {
  memory_->TakeBlocks(work.blocks);
  cross_blocks_ += work.blocks;
  memory_->TakeEncodeRows(work.encode_rows);
  encode_rows_ += work.encode_rows;
  encoded_ += rows;
  if (rows < work.rows) return;
  memory_->TakeEncodeRows(-encode_rows_);
  encode_rows_ = 0;
  if (encodes_only()) EmitEncoded();
}

void FakeSequence::EmitEncoded() {
  output_.finished = true;
  if (const auto* fill = std::get_if<FillMaskTask>(&task_)) {
    output_.choices.resize(fill->rows.size());
    for (size_t i = 0; i < fill->rows.size(); ++i) {
      for (int k = 0; k < fill->top; ++k) {
        output_.choices[i].top.push_back(
            {FakeCandidate(source_, fill->rows[i], k), -1.0f - k});
      }
    }
    return;
  }
  output_.choices.clear();
  const auto* embed = std::get_if<EmbedTask>(&task_);
  const bool per_token =
      embed ? embed->per_token : info_.labels_tokens || info_.finds_spans;
  output_.width = info_.finds_spans  ? 2
                  : embed == nullptr ? static_cast<int>(info_.labels.size())
                  : per_token        ? info_.token_width
                  : embed->dimensions > 0 ? embed->dimensions
                                          : info_.embedding_width;
  const int tokens = static_cast<int>(source_.ids.size());
  output_.values.assign(
      static_cast<size_t>(output_.width) * (per_token ? tokens : 1), 0);
  for (int t = 0; t < tokens; ++t) {
    for (int i = 0; i < output_.width; ++i) {
      output_.values[(per_token ? t * output_.width : 0) + i] +=
          FakeValue(source_, t, i);
    }
  }
  for (float& value : output_.values) {
    value += 1000 * static_cast<float>(adapter_ + 1);
  }
  if (embed == nullptr || !embed->normalize.value_or(false)) return;
  const float first = output_.values[0];
  for (float& value : output_.values) value /= first;
}

void FakeSequence::Emit(int n) {
  if (params_.prompt_log_probs && generated() == 0) EmitPrompt();
  for (ChoiceOutput& choice : output_.choices) {
    for (int i = 0; i < n; ++i) {
      const int at = static_cast<int>(choice.tokens.size());
      choice.tokens.push_back(is_score() ? std::get<ScoreTask>(task_).target[at]
                              : at == 0 && params_.forced_bos_id >= 0
                                  ? params_.forced_bos_id
                                  : FakeToken(input_tokens(), at));
      if (is_score() || params_.log_probs) {
        const auto* score = std::get_if<ScoreTask>(&task_);
        const int start = score ? score->decoder_start_id.value_or(0)
                                : params_.decoder_start_id;
        choice.log_probs.push_back(static_cast<float>(-1 - start));
      }
    }
  }
  if (generated() < new_tokens()) return;
  output_.finished = true;
  for (ChoiceOutput& choice : output_.choices) {
    choice.finish =
        params_.eos_ids.empty() ? FinishReason::kMaxLength : FinishReason::kEos;
    if (!aligns()) continue;
    for (int i = 0; i < new_tokens(); ++i) {
      for (size_t k = 0; k < source_.ids.size(); ++k) {
        choice.alignment.push_back(FakeWeight(source_, i, static_cast<int>(k)));
      }
    }
  }
}

void FakeSequence::EmitPrompt() {
  ChoiceOutput& prompt = output_.prompt;
  const auto add = [&](int id) {
    const float log_prob = FakePromptLogProb(prompt.tokens.size());
    prompt.tokens.push_back(id);
    prompt.log_probs.push_back(log_prob);
    for (int k = 0; k < params_.top_log_probs; ++k) {
      prompt.top.push_back({(id + k) % kFakeVocab, log_prob - k});
    }
  };
  std::for_each(prompt_.begin() + 1, prompt_.end(), add);
  std::for_each(params_.forced_prefix.begin(), params_.forced_prefix.end(),
                add);
}

}  // namespace attend
