#include "engine/transformer/convolution.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The weights [hidden, hidden / groups, size] as a matrix [hidden, size *
// hidden], with zeros where a channel does not read another one.
class ConvolutionRows final : public RowSource {
 public:
  // `weights` must outlive the rows.
  ConvolutionRows(const float* weights, int hidden, const ConvolutionSpec& spec)
      : weights_(weights), hidden_(hidden), spec_(spec) {}

  int rows() const override { return hidden_; }
  int cols() const override { return spec_.size * hidden_; }
  void Read(int first, Matrix dst) const override {
    const int channels = hidden_ / spec_.groups;
    for (int r = 0; r < dst.rows; ++r) {
      float* const row = dst.row(r);
      std::fill_n(row, dst.cols, 0.0f);
      const int out = first + r;
      const int begin = out / channels * channels;  // of the group
      const float* from =
          weights_ + static_cast<size_t>(out) * channels * spec_.size;
      for (int channel = begin; channel < begin + channels; ++channel) {
        for (int i = 0; i < spec_.size; ++i) {
          row[i * hidden_ + channel] = *from++;
        }
      }
    }
  }

 private:
  const float* const weights_;
  const int hidden_;
  const ConvolutionSpec& spec_;
};

}  // namespace

absl::StatusOr<Convolution> LoadConvolution(Primitives& primitives,
                                            Weights& weights,
                                            const std::string& slot, int hidden,
                                            const ConvolutionSpec& spec,
                                            const LoadOptions& options) {
  ASSIGN_OR_RETURN(const Buffer<float> stored,
                   weights.Read(absl::StrCat(slot, ".weight"),
                                {hidden, hidden / spec.groups, spec.size}));
  Buffer<float> bias;
  if (const std::string name = slot + ".bias"; weights.Lists(name)) {
    ASSIGN_OR_RETURN(bias, weights.Read(name, {hidden}));
  }
  ASSIGN_OR_RETURN(Linear linear,
                   Linear::Create(primitives, options.dtype,
                                  ConvolutionRows(stored.data(), hidden, spec),
                                  std::move(bias), options.max_rows));
  ASSIGN_OR_RETURN(Norm norm,
                   LoadNorm(weights, slot + ".norm", hidden, spec.norm));
  return Convolution{.size = spec.size,
                     .activation = spec.activation,
                     .linear = std::move(linear),
                     .norm = std::move(norm)};
}

}  // namespace attend
