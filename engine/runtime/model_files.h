#ifndef ATTEND_ENGINE_RUNTIME_MODEL_FILES_H_
#define ATTEND_ENGINE_RUNTIME_MODEL_FILES_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/api/model_info.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/families/shared/family.h"
#include "engine/families/shared/generation_config.h"
#include "engine/families/shared/module_list.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// What the files of a model say, whatever their format, before a weight is
// read.
struct ModelFiles {
  Family family;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<ChatTemplate> chat;            // null: no chat template
  std::optional<GenerationDefaults> generation;  // if the model generates
  std::unique_ptr<const TensorSource> tensors;
  // Tensors that were skipped; see Weights::Skipped(). Once weights are loaded.
  std::vector<std::string> skipped = {};
  // The directory of the LoRA adapter in `tensors`; empty: there is none.
  std::string adapter = {};
  // The files of routes that begin with another module (Router of
  // sentence-transformers), and the routes of texts by their roles, counted
  // through these files and all others.
  std::vector<ModelFiles> others = {};
  RoleRoutes role_routes = {};
};

// Opens a GGUF file, a Hugging Face directory, or one of CTranslate2: with
// model.bin and without safetensors; where it has pytorch_model.bin too, with a
// vocabulary of CTranslate2. Errors name the file, the key
// or tensor, what was found and what is expected; where `path` is something
// else, they say what to do about it.
//
// A LoRA adapter is merged into a Hugging Face directory: that in `adapter`, or
// one that is beside the model. The directory of an adapter alone stands for
// the model that it names, if that is a directory too.
absl::StatusOr<ModelFiles> OpenModelFiles(const std::string& path,
                                          const std::string& adapter = "");

// Parts of OpenModelFiles(). CheckVocabularies(): the tokenizer and the weights
// come from different files and may not belong together. A model may have more
// rows than its tokenizer has tokens, or a few less: their ids are errors of
// requests.
absl::Status CheckVocabularies(const Tokenizer& tokenizer,
                               const TransformerSpec& spec);
absl::StatusOr<ModelFiles> OpenCtranslate2(const std::string& directory);
absl::StatusOr<ModelFiles> OpenGguf(const std::string& path);
// The first module of the group is no transformer.
absl::StatusOr<ModelFiles> OpenStatic(const RouteGroup& group);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_MODEL_FILES_H_
