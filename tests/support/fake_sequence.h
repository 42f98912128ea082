#ifndef ATTEND_TESTS_SUPPORT_FAKE_SEQUENCE_H_
#define ATTEND_TESTS_SUPPORT_FAKE_SEQUENCE_H_

#include <algorithm>
#include <atomic>
#include <variant>
#include <vector>

#include "engine/api/engine.h"
#include "tests/support/fake_engine.h"
#include "tests/support/fake_memory.h"

namespace attend {

// A sequence of a FakeEngine; see there for what it computes.
class FakeSequence final : public Sequence {
 public:
  FakeSequence(EngineRequest request, const FakeEngineOptions& options,
               std::atomic<int>& live);
  ~FakeSequence() override;

  Work Next() const override;
  const SequenceOutput& output() const override { return output_; }
  absl::Status status() const override;
  int max_blocks() const override;
  int blocks() const override { return cross_blocks_ + self_blocks_; }

  // Computes the next `rows` rows in the memory of a context.
  void Compute(FakeMemory& memory, int rows);
  // Gives everything back; what was generated is kept.
  void Release();

 private:
  bool is_score() const { return std::holds_alternative<ScoreTask>(task_); }
  bool aligns() const {
    const auto* score = std::get_if<ScoreTask>(&task_);
    return score != nullptr ? score->alignments : params_.alignments;
  }
  bool encodes_only() const {
    return !is_score() && !std::holds_alternative<GenerateTask>(task_);
  }
  int new_tokens() const;
  // Tokens of the prompt but for its last, which is in the decoder start's
  // place.
  int before() const {
    return std::max(static_cast<int>(prompt_.size()) - 1, 0);
  }
  int prefix() const { return static_cast<int>(params_.forced_prefix.size()); }
  int input_tokens() const {
    return static_cast<int>(source_.ids.size() + prompt_.size());
  }
  int generated() const {
    return static_cast<int>(output_.choices[0].tokens.size());
  }
  // Decoder rows to compute before a token can be chosen, but for the last.
  int known() const;
  int BlocksFor(int tokens) const {
    return (tokens + block_tokens_ - 1) / block_tokens_;
  }
  int CrossBlocks() const {
    return encodes_only() ? 0 : BlocksFor(static_cast<int>(source_.ids.size()));
  }
  int SelfBlocks(int rows) const { return hypotheses_ * BlocksFor(rows); }

  void Encode(const Work& work, int rows);
  void EmitEncoded();
  void Emit(int n);
  void EmitPrompt();

  // One of these is empty.
  SourceTokens source_;
  std::vector<int> prompt_;
  const decltype(EngineRequest::task) task_;
  const ModelInfo& info_;
  const int block_tokens_;
  const int broken_source_;
  const int adapter_;
  std::atomic<int>& live_;
  GenerationParams params_;
  int hypotheses_ = 1;
  SequenceOutput output_;
  FakeMemory* memory_ = nullptr;  // null: the sequence has no memory
  int encoded_ = 0;
  int computed_ = 0;  // decoder rows of each hypothesis
  int cross_blocks_ = 0;
  int self_blocks_ = 0;
  int encode_rows_ = 0;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_FAKE_SEQUENCE_H_
