// A GGUF file: everything of a model is in it.

#include <utility>

#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/families/gguf/load_gguf.h"
#include "engine/families/shared/generation_config.h"
#include "engine/runtime/model_files.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/gguf/gguf_tokenizer.h"

namespace attend {

absl::StatusOr<ModelFiles> OpenGguf(const std::string& path) {
  ASSIGN_OR_RETURN(GgufFile file, GgufFile::Open(path));
  ASSIGN_OR_RETURN(GgufFamily loaded, LoadGguf(file));
  ModelFiles files;
  files.family = std::move(loaded.family);
  const TransformerSpec& spec = files.family.spec;
  ASSIGN_OR_RETURN(GgufTokenizer tokenizer, LoadGgufTokenizer(file.metadata()));
  files.tokenizer = std::move(tokenizer.tokenizer);
  RETURN_IF_ERROR(CheckVocabularies(*files.tokenizer, spec));
  if (!spec.encoder) {
    ASSIGN_OR_RETURN(files.chat,
                     LoadGgufChat(file.metadata(), tokenizer.config));
  }
  if (spec.decoder) {
    ASSIGN_OR_RETURN(files.generation,
                     GenerationDefaultsOf(loaded.config, spec));
  }
  files.tensors = std::make_unique<const GgufFile>(std::move(file));
  return files;
}

}  // namespace attend
