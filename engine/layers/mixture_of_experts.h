#ifndef ATTEND_ENGINE_LAYERS_MIXTURE_OF_EXPERTS_H_
#define ATTEND_ENGINE_LAYERS_MIXTURE_OF_EXPERTS_H_

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/layers/feed_forward.h"
#include "engine/layers/linear.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"

namespace attend {

// The experts that rows have chosen, and the places of rows that are sorted by
// expert. Lists of a row have its choices in the order of the experts' numbers.
struct ExpertChoices {
  std::vector<int> experts;    // [rows * chosen]
  std::vector<float> weights;  // [rows * chosen]
  std::vector<int> places;     // [rows * chosen], each number once
  std::vector<int> ends;       // [experts + 1]: the first place of each expert

  // Reserves memory, so that lists of up to these sizes allocate nothing.
  void Reserve(int max_rows, int chosen, int max_experts);
};

// Memory of a run for `rows` rows, all of it overwritten. A row has `chosen`
// places.
struct ExpertRoom {
  Matrix scores;          // [rows, experts]
  Operand gathered;       // [rows * chosen, hidden]
  Matrix inner;           // [rows, width], with memory in f32 only
  Operand inner_operand;  // [rows, width]
  Matrix outputs;         // [rows * chosen, hidden]; may be `scores`
  ExpertChoices* choices = nullptr;
};

// A mixture of experts (Shazeer et al. 2017): a router scores the experts for
// each row, and the row goes through those with the highest scores. Their
// outputs are added up, each multiplied with the softmax of the scores. Rows of
// one expert are multiplied together; a row's bits depend on that row only.
// Const after construction.
class MixtureOfExperts {
 public:
  struct Parts {
    Linear router;                     // hidden -> experts, in f32
    std::vector<FeedForward> experts;  // all of the same width
    Buffer<float> bias;                // [hidden], added to the sum; or empty
    int chosen = 0;                    // experts of a row, at most all
    bool normalized = false;           // the chosen experts' weights sum to 1
  };

  explicit MixtureOfExperts(Parts parts) : parts_(std::move(parts)) {}

  int experts() const { return static_cast<int>(parts_.experts.size()); }
  int chosen() const { return parts_.chosen; }
  int hidden() const { return parts_.router.in(); }
  int width() const { return parts_.experts.front().width(); }

  // src and dst are [rows, hidden], `operand` is that of src. dst may be src.
  // `residual`, `norm` and `operand` of the epilogue are applied.
  absl::Status Run(ExecContext& context, Matrix src, const Operand& operand,
                   const ExpertRoom& room, Matrix dst,
                   const Epilogue& epilogue) const;

 private:
  // Fills `experts` and `weights` from the scores, which are overwritten.
  void Choose(ExecContext& context, const ExpertRoom& room) const;
  // Fills `places` and `ends`.
  void Sort(ExpertChoices& choices) const;
  // Copies the rows of `operand` to the places of their experts.
  void Gather(ExecContext& context, const Operand& operand,
              const ExpertRoom& room) const;
  absl::Status RunExperts(ExecContext& context, const ExpertRoom& room) const;
  // dst = residual + bias + the weighted sum of each row's outputs.
  void Combine(ExecContext& context, const ExpertRoom& room, Matrix dst,
               const float* residual) const;

  Parts parts_;
};

// Turns scores [experts] into their softmax, and writes the numbers of the
// greatest into `chosen`, in ascending order. Of equal ones the first is taken.
// Scores that are not finite make all of the weights NaN.
void ChooseExperts(absl::Span<float> scores, absl::Span<int> chosen);

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_MIXTURE_OF_EXPERTS_H_
