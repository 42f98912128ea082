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

// One row of a family's table: the tensor from which a slot is read. "{}" in a
// name stands for the number of a layer, the same in the slot and the tensors.
struct NameRow {
  std::string slot;                  // "encoder.{}.self.q.weight"
  std::vector<std::string> tensors;  // alternatives: the first that is there
  bool zero_if_missing = false;      // false: a missing tensor is an error
  TensorSlices slices = {};          // which rows of the tensor
};

struct NameTable {
  std::vector<NameRow> rows;
  // Tensors that may be in the checkpoint and are not read; "{}" as above.
  std::vector<std::string> unused;
  // The same of tensors that say something of the file, so that Skipped() lists
  // them; "*" stands for any text.
  std::vector<std::string> skipped = {};
};

// A model's weights by slot: the names that the transformer has for weights, in
// all families. For loading only; one thread.
class Weights {
 public:
  // `source` must outlive the weights.
  Weights(const TensorSource& source, NameTable names);

  // Whether the table has a row for the slot. A layer has no bias, for example,
  // if the table has no row for that bias.
  bool Lists(absl::string_view slot) const;
  // Whether the source has a tensor for the slot.
  bool Has(absl::string_view slot) const;
  // Whether two slots have the same slices of the same tensor.
  bool AreSame(absl::string_view slot, absl::string_view other) const;
  // The rows of a slot of `shape`, whose first dimension counts the rows. Must
  // not outlive the source. All numbers are checked to be finite. A tensor of
  // shape [1, n] may stand for [n], and one of [n] for [n, 1] and [1, n].
  // NOT_FOUND if there is no tensor; INVALID_ARGUMENT names the file, the
  // tensor, the slot, the found and the expected shape, or the first number
  // that is not finite.
  absl::StatusOr<std::unique_ptr<const SlotRows>> Rows(
      absl::string_view slot, absl::Span<const int64_t> shape);
  // The numbers of a small slot, in row-major order. Errors as of Rows().
  absl::StatusOr<Buffer<float>> Read(absl::string_view slot,
                                     absl::Span<const int64_t> shape);
  // To be called after loading. INVALID_ARGUMENT names a tensor that was not
  // read and that the table does not list as unused: without that tensor the
  // model would not be the one that was trained.
  absl::Status CheckAllRead() const;
  // The tensors that were not read and that the table lists as skipped.
  std::vector<std::string> Skipped() const;

 private:
  struct Match {
    const NameRow* row = nullptr;
    std::string layer;   // "" if the row has no "{}"
    std::string tensor;  // "" if the source has none of row->tensors
  };
  Match Find(absl::string_view slot) const;
  // The tensor of a slot, checked; without bytes if it is missing and the row
  // has zero_if_missing.
  absl::StatusOr<TensorView> View(absl::string_view slot, const Match& match,
                                  absl::Span<const int64_t> shape);
  // The tensor of a slot, which is there and has matrices of shape `whole`.
  absl::StatusOr<TensorView> FindShaped(absl::string_view slot,
                                        const Match& match,
                                        std::vector<int64_t> whole);

  const TensorSource& source_;
  NameTable names_;
  std::set<std::string> read_;  // names of tensors
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_WEIGHTS_H_
