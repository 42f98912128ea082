#ifndef ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_FILE_H_
#define ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_FILE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/checkpoint/gguf/gguf_tensors.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/json/json_file.h"

namespace attend {

// A model in one GGUF file, the format of llama.cpp: metadata, and tensors
// under llama.cpp's names ("blk.0.attn_q.weight"). The file is mapped, not
// read: a tensor comes into memory when its bytes are read. Open() checks all
// that stands before the tensors' bytes. Const after Open(); any thread may
// read.
class GgufFile final : public TensorSource {
 public:
  // NOT_FOUND if the file is missing; INVALID_ARGUMENT if it is not GGUF of
  // version 2 or 3 in little-endian, or its contents are wrong; see
  // ReadGgufMetadata() and ReadGgufTensors().
  static absl::StatusOr<GgufFile> Open(const std::string& path);

  // Errors about keys name the file.
  const JsonFile& metadata() const { return metadata_; }

  bool Has(absl::string_view name) const override;
  std::vector<std::string> Names() const override;
  absl::StatusOr<TensorView> Find(absl::string_view name) const override;
  void Drop(absl::Span<const uint8_t> bytes) const override;
  // See MappedFile.
  absl::Status CheckUnchanged() const override;
  // The file.
  const std::string& path() const override { return file_->path(); }

 private:
  GgufFile(std::unique_ptr<MappedFile> file, JsonFile metadata,
           std::map<std::string, GgufTensor, std::less<>> tensors)
      : file_(std::move(file)),
        metadata_(std::move(metadata)),
        tensors_(std::move(tensors)) {}

  std::unique_ptr<const MappedFile> file_;
  JsonFile metadata_;
  std::map<std::string, GgufTensor, std::less<>> tensors_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_FILE_H_
