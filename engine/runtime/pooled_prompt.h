#ifndef ATTEND_ENGINE_RUNTIME_POOLED_PROMPT_H_
#define ATTEND_ENGINE_RUNTIME_POOLED_PROMPT_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/runtime/decoder_task.h"
#include "engine/runtime/encoder_task.h"
#include "engine/transformer/pooling.h"

namespace attend {

// Reads a prompt as other models' encoders read a source: the decoder's vectors
// of its tokens become one vector, or are kept each. All memory is reserved at
// construction.
class PooledPrompt final : public DecoderTask {
 public:
  // `result` takes vectors of `hidden` numbers, of a source of as many rows as
  // there are tokens.
  PooledPrompt(std::vector<int> tokens, std::unique_ptr<EncoderTask> result,
               int hidden);

  int hypotheses() const override { return 1; }
  absl::Span<const int> tokens(int) const override { return tokens_; }
  absl::Span<const int> prompt(int) const override { return tokens_; }
  // Counts rows whose vectors are not read yet. If the result is the vector of
  // the last token, no other is read, so that the others may come from the
  // prefix cache.
  int unscored() const override { return unread_; }
  LogitsNeed need(int) const override { return {}; }
  void Take(absl::Span<const LogitsView>) override {}
  std::optional<absl::Span<const int>> parents() const override { return {}; }
  PooledPrompt* pooled_prompt() override { return this; }
  // INTERNAL if the result is not finite.
  absl::Status status() const override;
  const SequenceOutput& output() const override { return result_->output(); }

  EncoderTask& result() { return *result_; }
  // Reads the decoder's vector `row` [hidden] for a part of the result;
  // `offset`: the number of the row among those that are not read yet. Returns
  // true and writes `dst`, as EncoderTask::Read() does, if a vector of the part
  // is complete with it: the one of number IndexOf().
  bool Read(size_t part, int offset, const float* row, float* dst);
  int IndexOf(size_t part, int offset) const;
  // To be called when all parts have read `rows` more rows.
  void Advance(int rows) { unread_ -= rows; }

 private:
  // The pooler of the rows for a part; empty: each row is a vector of the part.
  struct Pooled {
    std::vector<float> vector;  // [poolings * hidden]
    std::vector<Pooler> poolers;
  };
  int RowOf(int offset) const {
    return static_cast<int>(tokens_.size()) - unread_ + offset;
  }

  const std::vector<int> tokens_;
  const std::unique_ptr<EncoderTask> result_;
  const int hidden_;
  std::vector<Pooled> pooled_;  // of each part
  int unread_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_POOLED_PROMPT_H_
