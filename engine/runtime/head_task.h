#ifndef ATTEND_ENGINE_RUNTIME_HEAD_TASK_H_
#define ATTEND_ENGINE_RUNTIME_HEAD_TASK_H_

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/runtime/decoder_task.h"

namespace attend {

// Reads what the model's head makes of the vector of the last token. See
// HeadSpec::reads_decoder.
class HeadTask final : public DecoderTask {
 public:
  // The result has `width` numbers.
  HeadTask(std::vector<int> tokens, int width) : tokens_(std::move(tokens)) {
    output_.width = width;
    output_.values.reserve(width);
  }

  int hypotheses() const override { return 1; }
  absl::Span<const int> tokens(int) const override { return tokens_; }
  absl::Span<const int> prompt(int) const override { return tokens_; }
  int unscored() const override { return output_.finished ? 0 : 1; }
  LogitsNeed need(int) const override { return {}; }
  void Take(absl::Span<const LogitsView>) override {}
  void TakeVector(absl::Span<const float> values) override {
    output_.values.assign(values.begin(), values.end());
    output_.finished = true;
  }
  std::optional<absl::Span<const int>> parents() const override { return {}; }
  const SequenceOutput& output() const override { return output_; }

 private:
  const std::vector<int> tokens_;
  SequenceOutput output_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_HEAD_TASK_H_
