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
#include "engine/checkpoint/tensor_source.h"
#include "engine/checkpoint/torch/torch_file.h"

namespace attend {

class ConvertedDoubles;
class MappedFile;

// The tensors of a model directory: those of its weight files (see
// FindWeightFiles), and those of some folders of the directory, with names
// "<folder>/<tensor>"; "NAME.pt" is a file in the place of the folder NAME.
// Files are of safetensors or torch, by the ends of their names. The model's
// own files may be in such a folder, too, which is not in their names. They are
// mapped, not read: a tensor comes into memory when its bytes are read. Open()
// checks every field of every header. Whoever has read tensors asks
// CheckUnchanged() before using them. Const after Open(); any thread may read.
class Checkpoint final : public TensorSource {
 public:
  // A tensor of any dtype of safetensors or torch.
  struct Stored {
    std::string dtype;  // as safetensors call it: "I32"
    std::vector<int64_t> shape;
    absl::Span<const uint8_t> bytes;  // row-major, at any alignment
    std::string place;                // as in TensorView
  };

  // NOT_FOUND if the directory or a file is missing; INVALID_ARGUMENT if the
  // contents of a file are wrong. Errors name the file and the tensor.
  static absl::StatusOr<Checkpoint> Open(
      const std::string& directory,
      const std::vector<std::string>& folders = {},
      const std::string& model_folder = "");
  // The same of one file; path() is then the file's.
  static absl::StatusOr<Checkpoint> OpenFile(const std::string& path);
  Checkpoint(Checkpoint&&);
  Checkpoint& operator=(Checkpoint&&);
  ~Checkpoint() override;

  bool Has(absl::string_view name) const override;
  std::vector<std::string> Names() const override;
  absl::StatusOr<TensorView> Find(absl::string_view name) const override;
  void Drop(absl::Span<const uint8_t> bytes) const override;
  // NOT_FOUND if there is no such tensor; INVALID_ARGUMENT if its elements are
  // in another order.
  absl::StatusOr<Stored> FindStored(absl::string_view name) const;
  // Takes `prefix` from the names that begin with it. Errors show whole names.
  void StripPrefix(const std::string& prefix);
  // See MappedFile.
  absl::Status CheckUnchanged() const override;
  // The directory.
  const std::string& path() const override { return directory_; }

 private:
  struct Tensor {
    const MappedFile* file;
    TorchEntry entry;
    std::string name;  // in errors
  };

  Checkpoint();
  // Adds the weights in a directory, with `prefix` before their names.
  absl::Status AddDirectory(const std::string& directory,
                            const std::string& prefix);
  absl::Status AddFile(const std::string& path, const std::string& prefix);
  absl::StatusOr<const Tensor*> Look(absl::string_view name) const;
  static Stored StoredOf(const Tensor& tensor);

  std::string directory_;
  std::vector<std::unique_ptr<MappedFile>> files_;
  std::map<std::string, Tensor, std::less<>> tensors_;
  // Never null; F64 becomes F32.
  std::unique_ptr<ConvertedDoubles> doubles_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_CHECKPOINT_H_
