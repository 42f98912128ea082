#ifndef ATTEND_ENGINE_RUNTIME_ENCODER_TASK_H_
#define ATTEND_ENGINE_RUNTIME_ENCODER_TASK_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/api/engine.h"
#include "engine/compute/range.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/transformer/encode_state.h"
#include "engine/transformer/head.h"
#include "engine/transformer/spec.h"

namespace attend {

// The work of a request on an encoded source, or on a prompt that is pooled:
// reads some vectors, takes each through the same layers, and keeps the
// results. All memory is reserved at construction.
class EncoderTask {
 public:
  // The layers of the transformer that follow its encoder.
  enum class Layers { kNone, kEmbed, kHead, kSparse, kTokens };

  // Vectors that go through the same layers.
  struct Part {
    Layers layers = Layers::kNone;
    int route = 0;  // with kEmbed: whose layers, see TransformerSpec::Route()
    int vectors = 1;
    int width = 0;  // numbers of a result that are kept
    // Poolings that make one vector of the tokens'; empty: one for each token.
    std::vector<Pooling> poolings = {};
    int first_pooled = 0;        // row
    std::vector<int> rows = {};  // the tokens' rows; empty: all rows
    bool normalize = false;
    // The results are logits, which are pooled into the weights of all tokens.
    std::optional<SparseSpec> folds = std::nullopt;
    // The results are pooled in the end. Only in a task of one part.
    std::optional<Pooling> pools_results = std::nullopt;
    size_t begin = 0;  // of the results in output().values
  };

  // The source has `rows` rows. INVALID_ARGUMENT if the model has no layers for
  // the task, or if a field of the task is out of range.
  static absl::StatusOr<std::unique_ptr<EncoderTask>> Create(
      const EmbedTask& task, const TransformerSpec& spec, int rows);
  static absl::StatusOr<std::unique_ptr<EncoderTask>> Create(
      const ClassifyTask& task, const TransformerSpec& spec, int rows);
  static absl::StatusOr<std::unique_ptr<EncoderTask>> Create(
      const FillMaskTask& task, const TransformerSpec& spec, int rows);

  const std::vector<Part>& parts() const { return parts_; }
  bool wants_logits(const Part& part) const {
    return top_ > 0 || part.folds.has_value();
  }
  // Copies the i-th vector of a part to dst, which is [hidden], or
  // [PooledWidth(route)] for kEmbed.
  void Read(const EncodeState& state, const Part& part, int i, int hidden,
            float* dst) const;
  LogitsNeed need(const Part& part) const {
    return part.folds ? LogitsNeed{.row = true}
                      : LogitsNeed{.top = top_, .log_sum_exp = true};
  }

  // Takes what the layers have made of the i-th vector; keeps the first
  // `width` numbers, or the best tokens. The vectors may come in any order.
  // When all have been taken, the output is finished.
  void Take(const Part& part, int i, const float* values);
  void TakeLogits(const Part& part, int i, const LogitsView& logits);
  // For a part that folds, before TakeLogits(): folds the logits of the tokens
  // `ids`, of which others may fold others at the same time.
  void Fold(const Part& part, const LogitsView& logits, Range ids);

  const SequenceOutput& output() const { return output_; }
  // Whether all that was taken is finite.
  bool finite() const { return finite_; }

 private:
  EncoderTask(std::vector<Part> parts, int top);
  void CountTaken();
  // Makes one result of those of all vectors of the part.
  void PoolResults(const Part& part);

  std::vector<Part> parts_;
  const int top_;    // best tokens of FillMaskTask; 0: another task
  int vectors_ = 0;  // of all parts
  std::vector<TokenScore> scores_;  // [top]
  std::vector<float> pooled_;       // [width] if results are pooled
  int taken_ = 0;
  bool finite_ = true;
  SequenceOutput output_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_ENCODER_TASK_H_
