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
#include "engine/checkpoint/gguf/gguf_part.h"
#include "engine/checkpoint/gguf/gguf_tensors.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/json/json_file.h"

namespace attend {

// A model in one GGUF file, or in several, the format of llama.cpp: metadata,
// and tensors under llama.cpp's names ("blk.0.attn_q.weight"). Files are
// mapped, not read: a tensor comes into memory when its bytes are read. Open()
// checks all that stands before the tensors' bytes. Const after Open(); any
// thread may read.
class GgufFile final : public TensorSource {
 public:
  // `path` is the file or, of several, the first: NAME-00001-of-00003.gguf. The
  // others stand beside it. NOT_FOUND if a file is missing; INVALID_ARGUMENT if
  // one is not GGUF of version 2 or 3 in little-endian, its contents are wrong
  // (see ReadGgufMetadata() and ReadGgufTensors()), it is another part than its
  // name says, or the parts do not make a model. Errors name the file.
  static absl::StatusOr<GgufFile> Open(const std::string& path);

  // That of the first file; errors about keys name it.
  const JsonFile& metadata() const { return metadata_; }

  bool Has(absl::string_view name) const override;
  std::vector<std::string> Names() const override;
  absl::StatusOr<TensorView> Find(absl::string_view name) const override;
  void Drop(absl::Span<const uint8_t> bytes) const override;
  // See MappedFile.
  absl::Status CheckUnchanged() const override;
  // The file that was opened.
  const std::string& path() const override { return metadata_.path(); }

 private:
  struct PartTensor {
    const MappedFile* file;
    GgufTensor tensor;
  };

  explicit GgufFile(JsonFile metadata) : metadata_(std::move(metadata)) {}
  // Adds a file's tensors, which must not be there yet.
  absl::Status Add(GgufPart part);

  JsonFile metadata_;
  std::vector<std::unique_ptr<const MappedFile>> files_;
  std::map<std::string, PartTensor, std::less<>> tensors_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_FILE_H_
