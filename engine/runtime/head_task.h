#ifndef ATTEND_ENGINE_RUNTIME_HEAD_TASK_H_
#define ATTEND_ENGINE_RUNTIME_HEAD_TASK_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "engine/runtime/decoder_task.h"

namespace attend {

// Reads what the model's head makes of the vectors of the last tokens. See
// HeadSpec::reads_decoder.
class HeadTask final : public DecoderTask {
 public:
  // The result has `width` values for each of the last `rows` tokens.
  HeadTask(std::vector<int> tokens, int width, int rows)
      : tokens_(std::move(tokens)), left_(rows) {
    output_.width = width;
    output_.values.reserve(static_cast<size_t>(width) * rows);
  }

  int hypotheses() const override { return 1; }
  absl::Span<const int> tokens(int) const override { return tokens_; }
  absl::Span<const int> prompt(int) const override { return tokens_; }
  int unscored() const override { return left_; }
  LogitsNeed need(int) const override { return {}; }
  void Take(absl::Span<const LogitsView>) override {}
  void TakeVector(absl::Span<const float> values) override {
    output_.values.insert(output_.values.end(), values.begin(), values.end());
    output_.finished = --left_ == 0;
  }
  std::optional<absl::Span<const int>> parents() const override { return {}; }
  const SequenceOutput& output() const override { return output_; }

 private:
  const std::vector<int> tokens_;
  int left_;  // rows whose vectors are not read yet
  SequenceOutput output_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_HEAD_TASK_H_
