#ifndef ATTEND_TESTS_ENGINE_RUNTIME_FOUR_BIT_SOURCE_H_
#define ATTEND_TESTS_ENGINE_RUNTIME_FOUR_BIT_SOURCE_H_

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engine/checkpoint/tensor_source.h"
#include "engine/ops/matmul/group_weights.h"
#include "engine/tensor/half.h"
#include "engine/tensor/storage_type.h"

namespace attend {

// A source in which all matrices are rounded to 4 bits: in blocks of Q4_1 where
// a row is whole blocks, else as floats.
class FourBitSource final : public TensorSource {
 public:
  // `source` must outlive this.
  explicit FourBitSource(const TensorSource& source) : source_(source) {
    for (const std::string& name : source.Names()) {
      const absl::StatusOr<TensorView> view = source.Find(name);
      if (!view.ok() || view->shape.size() != 2) continue;
      std::vector<float> numbers(view->count());
      ToFloats(view->type, view->bytes.data(), absl::MakeSpan(numbers));
      Round(numbers, static_cast<int>(view->shape[1]), matrices_[name]);
    }
  }

  bool Has(absl::string_view name) const override { return source_.Has(name); }
  std::vector<std::string> Names() const override { return source_.Names(); }
  absl::StatusOr<TensorView> Find(absl::string_view name) const override {
    absl::StatusOr<TensorView> view = source_.Find(name);
    const auto matrix = matrices_.find(std::string(name));
    if (matrix == matrices_.end() || !view.ok()) return view;
    const bool blocks = view->shape[1] % kGroupNumbers == 0;
    view->type = blocks ? StorageType::kQ4_1 : StorageType::kF32;
    view->bytes = matrix->second;
    return view;
  }
  void Drop(absl::Span<const uint8_t>) const override {}
  const std::string& path() const override { return source_.path(); }

 private:
  static void Add(const void* bytes, size_t size, std::vector<uint8_t>& dst) {
    const uint8_t* const begin = static_cast<const uint8_t*>(bytes);
    dst.insert(dst.end(), begin, begin + size);
  }

  static void Round(const std::vector<float>& numbers, int cols,
                    std::vector<uint8_t>& dst) {
    for (size_t row = 0; row < numbers.size(); row += cols) {
      for (int i = 0; i < cols; i += kGroupNumbers) {
        const int count = std::min(kGroupNumbers, cols - i);
        std::vector<float> filled(kGroupNumbers, numbers[row + i]);
        std::copy_n(&numbers[row + i], count, filled.begin());
        const FourBitGroup group = RoundToFourBits(filled.data());
        const uint8_t* const codes = group.codes;
        if (cols % kGroupNumbers == 0) {
          Add(&group.scale, 2, dst);
          Add(&group.min, 2, dst);
          for (int j = 0; j < 16; ++j) {
            dst.push_back(static_cast<uint8_t>(codes[j] | codes[j + 16] << 4));
          }
          continue;
        }
        for (int j = 0; j < count; ++j) {
          const float number =
              HalfToFloat(group.scale) * codes[j] + HalfToFloat(group.min);
          Add(&number, sizeof(number), dst);
        }
      }
    }
  }

  const TensorSource& source_;
  std::map<std::string, std::vector<uint8_t>> matrices_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_RUNTIME_FOUR_BIT_SOURCE_H_
