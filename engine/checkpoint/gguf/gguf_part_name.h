#ifndef ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_PART_NAME_H_
#define ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_PART_NAME_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// The path of a part of a model in several GGUF files, as llama-gguf-split
// names it: "models/NAME-00001-of-00003.gguf".
struct GgufPartName {
  std::string model;  // "models/NAME"
  int number = 1;     // of the part, from 1
  int count = 1;      // of parts

  std::string Path() const;
};

// nullopt if the path has another form.
std::optional<GgufPartName> ParseGgufPartName(absl::string_view path);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_PART_NAME_H_
