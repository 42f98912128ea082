#ifndef ATTEND_ENGINE_RUNTIME_ENCODER_TASK_H_
#define ATTEND_ENGINE_RUNTIME_ENCODER_TASK_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/api/engine.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/transformer/encode_state.h"
#include "engine/transformer/head.h"
#include "engine/transformer/spec.h"

namespace attend {

// What a request wants of an encoded source: some vectors, each taken through
// the same layers, and their results. All memory is reserved at construction.
class EncoderTask {
 public:
  // The layers that vectors go through.
  enum class Layers { kNone, kEmbed, kHead };

  // INVALID_ARGUMENT if the model cannot do it, or a row or number is out of
  // range. `rows`: of the source.
  static absl::StatusOr<std::unique_ptr<EncoderTask>> Create(
      const EmbedTask& task, const TransformerSpec& spec, int rows);
  static absl::StatusOr<std::unique_ptr<EncoderTask>> Create(
      const ClassifyTask& task, const TransformerSpec& spec, int rows);
  static absl::StatusOr<std::unique_ptr<EncoderTask>> Create(
      const FillMaskTask& task, const TransformerSpec& spec, int rows);

  Layers layers() const { return layers_; }
  bool wants_logits() const { return top_ > 0; }
  int vectors() const { return vectors_; }
  // The i-th vector of the encoded source, [hidden].
  void Read(const EncodeState& state, int i, int hidden, float* dst) const;
  LogitsNeed need() const { return {.top = top_, .log_sum_exp = true}; }

  // What became of the i-th vector, of which the first `width` numbers of the
  // output are kept; in any order. After the last the output is finished.
  void Take(int i, const float* values);
  void TakeLogits(int i, const LogitsView& logits);

  const SequenceOutput& output() const { return output_; }

 private:
  EncoderTask(Layers layers, int vectors, int width, int top);

  const Layers layers_;
  const int vectors_;
  const int top_;
  std::optional<Pooling> pooling_;  // else each vector is a token's
  std::vector<int> rows_;           // of the source; empty: all
  bool normalize_ = false;
  std::vector<TokenScore> scores_;  // [top]
  int taken_ = 0;
  SequenceOutput output_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_ENCODER_TASK_H_
