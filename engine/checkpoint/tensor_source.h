#ifndef ATTEND_ENGINE_CHECKPOINT_TENSOR_SOURCE_H_
#define ATTEND_ENGINE_CHECKPOINT_TENSOR_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/tensor/row_source.h"
#include "engine/tensor/storage_type.h"

namespace attend {

// A tensor as it is stored. Does not own the bytes.
struct TensorView {
  StorageType type = StorageType::kF32;
  std::vector<int64_t> shape;       // empty: a scalar
  absl::Span<const uint8_t> bytes;  // row-major, at any alignment
  // How errors about the tensor begin: "/models/a/model.safetensors: tensor w".
  std::string place;
  // Of a matrix that is not stored number by number, as a quantised one: what
  // reads its rows, all of them finite. `bytes` is then what it reads, and
  // `type` is kF32. Null: the numbers are `bytes`.
  std::shared_ptr<const RowSource> rows = nullptr;
  // The elements of a matrix stand column by column: its `rows`, if it has
  // them, are its columns.
  bool column_major = false;

  // How many numbers the tensor has. The shape of a view is known to fit.
  size_t count() const;
};

// The named tensors of a model, whatever the format of its files. Const; any
// thread may read.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  virtual bool Has(absl::string_view name) const = 0;
  // The names of all tensors, in alphabetical order.
  virtual std::vector<std::string> Names() const = 0;
  // A view of the tensor, valid as long as the source exists. NOT_FOUND if
  // there is no such tensor; INVALID_ARGUMENT if its dtype is no StorageType.
  virtual absl::StatusOr<TensorView> Find(absl::string_view name) const = 0;
  // Advice: the bytes will not be read soon, so they need not stay in memory.
  virtual void Drop(absl::Span<const uint8_t> bytes) const = 0;
  // DATA_LOSS if what was read may be anything, because a file was cut or
  // written since it was opened, or could not be read.
  virtual absl::Status CheckUnchanged() const { return absl::OkStatus(); }
  // The path of the model, with which errors about all tensors begin.
  virtual const std::string& path() const = 0;
};

// A shape as errors show it: "[8001, 256]".
std::string ShapeText(absl::Span<const int64_t> shape);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_TENSOR_SOURCE_H_
