#ifndef ATTEND_ENGINE_RUNTIME_MODEL_FILES_H_
#define ATTEND_ENGINE_RUNTIME_MODEL_FILES_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/api/generation_params.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/families/shared/family.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// What the files of a model say, whatever their format, before a weight is
// read.
struct ModelFiles {
  Family family;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<ChatTemplate> chat;          // null: no chat template
  std::optional<GenerationParams> generation;  // if the model has a decoder
  std::unique_ptr<const TensorSource> tensors;
};

// Opens a Hugging Face directory, or one of CTranslate2: with model.bin and
// without weights of Hugging Face. Errors name the file, the key or tensor,
// what was found and what is expected.
absl::StatusOr<ModelFiles> OpenModelFiles(const std::string& path);

// A part of OpenModelFiles().
absl::StatusOr<ModelFiles> OpenCtranslate2(const std::string& directory);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_MODEL_FILES_H_
