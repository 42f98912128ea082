#ifndef ATTEND_TESTS_ENGINE_RUNTIME_ROUNDED_TABLE_H_
#define ATTEND_TESTS_ENGINE_RUNTIME_ROUNDED_TABLE_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/tensor_source.h"
#include "engine/tensor/storage_type.h"
#include "tests/engine/ops/matmul/naive_spread.h"

namespace attend {

// A source in which the rows of one matrix are rounded as in int8 weights. Or
// they are moved by a part of what rounding moves them.
class RoundedTable final : public TensorSource {
 public:
  // `source` must outlive this, and have the matrix.
  RoundedTable(const TensorSource& source, const std::string& name,
               float part = 1)
      : source_(source), name_(name) {
    const TensorView stored = *source.Find(name);
    numbers_.resize(NumbersIn(stored.type, stored.bytes.size()));
    ToFloats(stored.type, stored.bytes.data(), absl::MakeSpan(numbers_));
    const size_t cols = stored.shape[1];
    for (size_t begin = 0; begin < numbers_.size(); begin += cols) {
      std::vector<float> row =
          SpreadNaively(&numbers_[begin], static_cast<int>(cols));
      std::vector<float> rounded = row;
      RoundInt8WeightsNaively(rounded);
      for (size_t i = 0; i < cols; ++i) row[i] += part * (rounded[i] - row[i]);
      std::ranges::copy(UnspreadNaively(std::move(row)), &numbers_[begin]);
    }
  }

  bool Has(absl::string_view name) const override { return source_.Has(name); }
  std::vector<std::string> Names() const override { return source_.Names(); }
  absl::StatusOr<TensorView> Find(absl::string_view name) const override {
    absl::StatusOr<TensorView> view = source_.Find(name);
    if (name != name_ || !view.ok()) return view;
    view->type = StorageType::kF32;
    view->bytes = {reinterpret_cast<const uint8_t*>(numbers_.data()),
                   numbers_.size() * sizeof(float)};
    return view;
  }
  void Drop(absl::Span<const uint8_t>) const override {}
  const std::string& path() const override { return source_.path(); }

 private:
  const TensorSource& source_;
  const std::string name_;
  std::vector<float> numbers_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_RUNTIME_ROUNDED_TABLE_H_
