#ifndef ATTEND_ENGINE_CHECKPOINT_WEIGHTS_H_
#define ATTEND_ENGINE_CHECKPOINT_WEIGHTS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/tensor/buffer.h"

namespace attend {

// One row of a family's table: where a slot's values are. "{}" in a name stands
// for the number of a layer, the same in the slot and in the tensors.
struct NameRow {
  std::string slot;                  // "encoder.{}.self.q.weight"
  std::vector<std::string> tensors;  // the first that the checkpoint has
  bool zero_if_missing = false;      // else a missing tensor is an error
  // The tensor is [columns, rows].
  bool transposed = false;
  // Where a tensor holds several slots: it is `groups` times `parts` parts of
  // equal numbers of rows, and the slot has `span` of each group, from `part`
  // on.
  int part = 0;
  int span = 1;
  int parts = 1;
  int groups = 1;
};

struct NameTable {
  std::vector<NameRow> rows;
  // Tensors that may be in the file and are not needed; "{}" as above.
  std::vector<std::string> unused;
};

// A model's weights by slot: what the transformer asks for, whatever the family
// calls it. For loading only; one thread. `checkpoint` must outlive it.
class Weights {
 public:
  Weights(const Checkpoint& checkpoint, NameTable names);

  // Whether the table has a row for the slot: a layer without a bias, say, is
  // one whose table has none.
  bool Lists(absl::string_view slot) const;
  // Whether the checkpoint has a tensor for the slot.
  bool Has(absl::string_view slot) const;
  // The values of a slot in row-major order. A tensor of shape [1, n] is taken
  // for [n]. Errors name file, tensor, slot, expected and found shape; nothing
  // is allocated before the shape is known to be right.
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
    std::string tensor;  // "" if the checkpoint has none of them
  };
  Match Find(absl::string_view slot) const;

  const Checkpoint& checkpoint_;
  NameTable names_;
  std::set<std::string> read_;  // names of tensors
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_WEIGHTS_H_
