#ifndef ATTEND_ENGINE_LAYERS_TABLE_ADAPTERS_H_
#define ATTEND_ENGINE_LAYERS_TABLE_ADAPTERS_H_

#include <cstddef>
#include <utility>

#include "engine/tensor/buffer.h"
#include "engine/tensor/check.h"
#include "engine/tensor/matrix.h"

namespace attend {

// Low-rank changes of a table of vectors, of which each row that is looked up
// takes one or none: vector + scale * A[id] B. Const; any thread may read.
class TableAdapters {
 public:
  TableAdapters() = default;  // none
  // `left` [count * entries, rank] has the matrices A of all adapters, one
  // below the other; `right` [count * rank, width] scale * B of all.
  TableAdapters(Buffer<float> left, Buffer<float> right, int entries, int rank)
      : left_(std::move(left)),
        right_(std::move(right)),
        entries_(entries),
        rank_(rank) {
    ATTEND_CHECK(entries > 0 && rank > 0);
  }

  // Adds what adapter `choice` changes in entry `id`; -1 adds nothing. `row` is
  // [1, width].
  void AddTo(int choice, int id, Matrix row) const {
    if (choice < 0 || rank_ == 0) return;
    const float* const left =
        left_.data() + (static_cast<size_t>(choice) * entries_ + id) * rank_;
    const float* right =
        right_.data() + static_cast<size_t>(choice) * rank_ * row.cols;
    for (int i = 0; i < rank_; ++i, right += row.cols) {
      for (int j = 0; j < row.cols; ++j) row.data[j] += left[i] * right[j];
    }
  }

 private:
  Buffer<float> left_;
  Buffer<float> right_;
  int entries_ = 0;
  int rank_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_TABLE_ADAPTERS_H_
