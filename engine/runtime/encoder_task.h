#ifndef ATTEND_ENGINE_RUNTIME_ENCODER_TASK_H_
#define ATTEND_ENGINE_RUNTIME_ENCODER_TASK_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/api/engine.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/transformer/encode_state.h"
#include "engine/transformer/head.h"
#include "engine/transformer/spec.h"

namespace attend {

// What a request does with an encoded source: reads some vectors, takes each
// through the same layers, and keeps the results. All memory is reserved at
// construction.
class EncoderTask {
 public:
  // The layers of the transformer that follow its encoder.
  enum class Layers { kNone, kEmbed, kHead };

  // The source has `rows` rows. INVALID_ARGUMENT if the model has no layers for
  // the task, or if a field of the task is out of range.
  static absl::StatusOr<std::unique_ptr<EncoderTask>> Create(
      const EmbedTask& task, const TransformerSpec& spec, int rows);
  static absl::StatusOr<std::unique_ptr<EncoderTask>> Create(
      const ClassifyTask& task, const TransformerSpec& spec, int rows);
  static absl::StatusOr<std::unique_ptr<EncoderTask>> Create(
      const FillMaskTask& task, const TransformerSpec& spec, int rows);

  Layers layers() const { return layers_; }
  bool wants_logits() const { return top_ > 0; }
  int vectors() const { return vectors_; }
  // Copies the i-th vector of the encoded source to dst, which is [hidden], or
  // [PooledWidth()] for kEmbed.
  void Read(const EncodeState& state, int i, int hidden, float* dst) const;
  LogitsNeed need() const { return {.top = top_, .log_sum_exp = true}; }

  // Takes what the layers have made of the i-th vector; keeps the first
  // output().width numbers, or the best tokens. The vectors may come in any
  // order. When all have been taken, the output is finished.
  void Take(int i, const float* values);
  void TakeLogits(int i, const LogitsView& logits);

  const SequenceOutput& output() const { return output_; }
  // Whether all that was taken is finite.
  bool finite() const { return finite_; }

 private:
  EncoderTask(Layers layers, int vectors, int width, int top);

  const Layers layers_;
  const int vectors_;
  const int top_;
  std::vector<Pooling> poolings_;  // empty: each vector is one token's
  int first_pooled_ = 0;           // row
  std::vector<int> rows_;          // the tokens' rows; empty: all rows
  bool normalize_ = false;
  std::vector<TokenScore> scores_;  // [top]
  int taken_ = 0;
  bool finite_ = true;
  SequenceOutput output_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_ENCODER_TASK_H_
