#ifndef ATTEND_ENGINE_CHECKPOINT_WEIGHTS_H_
#define ATTEND_ENGINE_CHECKPOINT_WEIGHTS_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/checkpoint/slot_rows.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/tensor/buffer.h"

namespace attend {

// One row of a family's table: where a slot's values are. "{}" in a name stands
// for the number of a layer, the same in the slot and in the tensors.
struct NameRow {
  std::string slot;                  // "encoder.{}.self.q.weight"
  std::vector<std::string> tensors;  // the first that the source has
  bool zero_if_missing = false;      // else a missing tensor is an error
  TensorPart part = {};              // of the tensor, that the slot has
};

struct NameTable {
  std::vector<NameRow> rows;
  // Tensors that may be in the file and are not needed; "{}" as above.
  std::vector<std::string> unused;
};

// A model's weights by slot: what the transformer asks for, whatever the family
// calls it. For loading only; one thread. `source` must outlive it.
class Weights {
 public:
  Weights(const TensorSource& source, NameTable names);

  // Whether the table has a row for the slot: a layer without a bias, say, is
  // one whose table has none.
  bool Lists(absl::string_view slot) const;
  // Whether the source has a tensor for the slot.
  bool Has(absl::string_view slot) const;
  // Whether two slots have the same part of the same tensor.
  bool AreOne(absl::string_view slot, absl::string_view other) const;
  // A slot of `shape`, whose first dimension counts the rows; must not outlive
  // the source. All its numbers are finite. A tensor of shape [1, n] is taken
  // for [n]. Errors name file, tensor, slot, expected and found shape, or the
  // first number that is not finite.
  absl::StatusOr<std::unique_ptr<const SlotRows>> Rows(
      absl::string_view slot, absl::Span<const int64_t> shape);
  // Its values in row-major order; for small ones.
  absl::StatusOr<Buffer<float>> Read(absl::string_view slot,
                                     absl::Span<const int64_t> shape);
  // After loading: INVALID_ARGUMENT names a tensor that nobody read and that
  // the table does not list as unused, since the model would not be the one
  // that was trained.
  absl::Status CheckAllRead() const;

 private:
  struct Match {
    const NameRow* row = nullptr;
    std::string layer;   // "" if the row has no "{}"
    std::string tensor;  // "" if the source has none of them
  };
  Match Find(absl::string_view slot) const;
  // The tensor of a slot, checked; without bytes if it is missing and zeros.
  absl::StatusOr<TensorView> View(absl::string_view slot, const Match& match,
                                  absl::Span<const int64_t> shape);

  const TensorSource& source_;
  NameTable names_;
  std::set<std::string> read_;  // names of tensors
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_WEIGHTS_H_
