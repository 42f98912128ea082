#ifndef ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_PART_H_
#define ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_PART_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/checkpoint/gguf/gguf_tensors.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/json/json_file.h"

namespace attend {

// What one GGUF file holds: a model, or a part of a model that
// llama-gguf-split has divided.
struct GgufPart {
  std::unique_ptr<const MappedFile> file;
  JsonFile metadata;
  std::map<std::string, GgufTensor, std::less<>> tensors;
};

// Maps a file, and checks all that stands before the tensors' bytes. Errors:
// see GgufFile::Open().
absl::StatusOr<GgufPart> ReadGgufPart(const std::string& path);

// What a part says of the model that it is a part of.
struct GgufSplit {
  int number = 0;   // of the part, from 0
  int count = 1;    // of parts
  int tensors = 0;  // in all parts
};

// By the keys "split.*"; without them the file is a whole model.
// INVALID_ARGUMENT names the file and the key.
inline constexpr int kMaxGgufParts = 1000;
absl::StatusOr<GgufSplit> ReadGgufSplit(const JsonFile& metadata);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_PART_H_
