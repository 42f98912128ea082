#ifndef ATTEND_ENGINE_CHECKPOINT_CHECKPOINT_H_
#define ATTEND_ENGINE_CHECKPOINT_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/checkpoint/safetensors.h"

namespace attend {

class MappedFile;

// The tensors of a model directory: model.safetensors, or the shards that
// model.safetensors.index.json lists, and model.safetensors of folders in it,
// whose tensors are named "<folder>/<tensor>". Files are mapped, not read; a
// value is touched once, when Read() converts it. Every field of every header
// is checked when the checkpoint is opened. The files must not be cut while it
// exists. Const after Open(); any thread may read.
class Checkpoint {
 public:
  // NOT_FOUND if the directory or a file is missing; INVALID_ARGUMENT if a file
  // is not what it should be. Errors name the file and the tensor.
  static absl::StatusOr<Checkpoint> Open(
      const std::string& directory,
      const std::vector<std::string>& folders = {});
  Checkpoint(Checkpoint&&);
  Checkpoint& operator=(Checkpoint&&);
  ~Checkpoint();

  bool Has(absl::string_view name) const;
  // In alphabetical order.
  std::vector<std::string> Names() const;
  // Empty for a scalar. NOT_FOUND if there is no such tensor.
  absl::StatusOr<std::vector<int64_t>> Shape(absl::string_view name) const;
  // Fills dst, whose size is the product of `shape`, with the tensor's values
  // in row-major order. INVALID_ARGUMENT if the tensor has another shape or
  // holds a value that is not finite.
  absl::Status Read(absl::string_view name, absl::Span<const int64_t> shape,
                    absl::Span<float> dst) const;

  const std::string& directory() const { return directory_; }

 private:
  struct Tensor {
    const MappedFile* file;
    SafetensorsEntry entry;
  };

  Checkpoint() = default;
  absl::Status AddModel();
  // `prefix` is put before the names of its tensors.
  absl::Status AddFile(const std::string& path, const std::string& prefix);
  absl::StatusOr<const Tensor*> Find(absl::string_view name) const;

  std::string directory_;
  std::vector<std::unique_ptr<MappedFile>> files_;
  std::map<std::string, Tensor, std::less<>> tensors_;
};

// "[8001, 256]"
std::string ShapeText(absl::Span<const int64_t> shape);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_CHECKPOINT_H_
