#include "engine/runtime/model_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/checkpoint/checkpoint.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/generation_config.h"
#include "engine/families/shared/sentence_transformers.h"
#include "engine/json/json_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/load_tokenizer.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

bool Has(const std::string& directory, const char* file) {
  std::error_code ignored;
  return fs::exists(fs::path(directory) / file, ignored);
}

absl::StatusOr<ModelFiles> OpenDirectory(const std::string& directory) {
  ASSIGN_OR_RETURN(const JsonFile config,
                   JsonFile::Load(directory + "/config.json"));
  ModelFiles files;
  ASSIGN_OR_RETURN(files.family, LoadFamily(config));
  const TransformerSpec& spec = files.family.spec;
  RETURN_IF_ERROR(ReadSentenceTransformers(directory, files.family));
  ASSIGN_OR_RETURN(files.tokenizer, LoadTokenizer(directory));
  if (!spec.encoder) {
    ASSIGN_OR_RETURN(files.chat, ChatTemplate::Load(directory));
  }
  if (spec.decoder) {
    ASSIGN_OR_RETURN(files.generation,
                     LoadGenerationParams(directory, config, spec));
  }
  ASSIGN_OR_RETURN(Checkpoint checkpoint,
                   Checkpoint::Open(directory, files.family.folders));
  files.tensors = std::make_unique<const Checkpoint>(std::move(checkpoint));
  return files;
}

}  // namespace

absl::StatusOr<ModelFiles> OpenModelFiles(const std::string& path) {
  const bool ctranslate2 = Has(path, "model.bin") &&
                           !Has(path, "model.safetensors") &&
                           !Has(path, "model.safetensors.index.json");
  return ctranslate2 ? OpenCtranslate2(path) : OpenDirectory(path);
}

}  // namespace attend
