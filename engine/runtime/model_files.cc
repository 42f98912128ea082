#include "engine/runtime/model_files.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/fit_names.h"
#include "engine/checkpoint/lora/lora_source.h"
#include "engine/checkpoint/quantized_checkpoint.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/generation_config.h"
#include "engine/families/shared/sentence_transformers.h"
#include "engine/json/json_file.h"
#include "engine/json/shell_word.h"
#include "engine/runtime/adapter_vocabulary.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/load_tokenizer.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

// Tokens that a tokenizer may have beyond the weights, or a sixteenth of them:
// those of images, or added and never trained.
constexpr int kMaxExtraTokens = 1024;

// What may not be looked at counts as there: who reads it says why not.
bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::status(path, ignored).type() != fs::file_type::not_found;
}

bool Has(const std::string& directory, const char* file) {
  return Exists(fs::path(directory) / file);
}

// A GGUF file in a directory, of several the first by name; "" if there is
// none.
std::string FindGguf(const std::string& directory) {
  std::error_code ignored;
  std::string found;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.path().extension() != ".gguf") continue;
    if (found.empty() || entry.path().string() < found) {
      found = entry.path().string();
    }
  }
  return found;
}

bool HasAny(const std::string& directory,
            std::initializer_list<const char*> files) {
  return std::any_of(files.begin(), files.end(),
                     [&](const char* file) { return Has(directory, file); });
}

// Returns true if model.bin has the weights of a directory. Where torch's are
// there too, a vocabulary tells whether model.bin is CTranslate2's.
bool IsCtranslate2(const std::string& directory) {
  if (!Has(directory, "model.bin")) return false;
  if (HasAny(directory,
             {"model.safetensors", "model.safetensors.index.json"})) {
    return false;
  }
  return !HasAny(directory,
                 {"pytorch_model.bin", "pytorch_model.bin.index.json"}) ||
         HasAny(directory, {"shared_vocabulary.json", "shared_vocabulary.txt",
                            "source_vocabulary.json", "source_vocabulary.txt",
                            "vocabulary.json", "vocabulary.txt"});
}

// Why a path without config.json in it is no model.
absl::Status NoConfig(const std::string& path) {
  if (!Exists(path)) {
    return absl::NotFoundError(absl::StrCat(
        path, ": no such directory or file; attend-server --hub OWNER/NAME ",
        "fetches a model of the hub"));
  }
  if (const std::string gguf = FindGguf(path); !gguf.empty()) {
    return absl::NotFoundError(absl::StrCat(
        path,
        ": no config.json in it; to load a GGUF file name the file: ", gguf));
  }
  return absl::NotFoundError(absl::StrCat(
      path, ": no config.json in it, so it is not the directory of a model"));
}

// The models of routes that begin with the same module. `adapter`: see
// OpenModelFiles(); "" for none.
absl::StatusOr<ModelFiles> OpenGroup(const RouteGroup& group,
                                     const std::string& adapter) {
  const std::string& own = group.first.directory;
  if (group.first.kind != FirstModule::Kind::kTransformer) {
    if (adapter.empty()) return OpenStatic(group);
    return absl::InvalidArgumentError(
        absl::StrCat("adapter is ", adapter, ", but ", own,
                     " is a table of vectors, which has no layers"));
  }
  if (!Has(own, "config.json")) return NoConfig(own);
  ASSIGN_OR_RETURN(const JsonFile config, JsonFile::Load(own + "/config.json"));
  ModelFiles files;
  ASSIGN_OR_RETURN(files.family, LoadFamily(config));
  const TransformerSpec& spec = files.family.spec;
  RETURN_IF_ERROR(ReadSentenceTransformers(group, files.family));
  ASSIGN_OR_RETURN(files.tokenizer,
                   LoadTokenizer(own, {.lower_case = files.family.lower_case,
                                       .prefixes = files.family.prefixes}));
  RETURN_IF_ERROR(CheckVocabularies(*files.tokenizer, spec));
  if (!spec.encoder) {
    ASSIGN_OR_RETURN(files.chat, ChatTemplate::Load(own));
  }
  if (spec.decoder && spec.generates) {
    ASSIGN_OR_RETURN(files.generation,
                     LoadGenerationDefaults(own, config, spec));
  }
  ASSIGN_OR_RETURN(Checkpoint checkpoint,
                   Checkpoint::Open(group.directory, files.family.folders,
                                    group.first.folder));
  FitNames(files.family.names, checkpoint);
  const Quantization& quantization = files.family.quantization;
  if (quantization.layout == MatrixLayout::kPlain) {
    files.tensors = std::make_unique<const Checkpoint>(std::move(checkpoint));
  } else {
    files.tensors = std::make_unique<const QuantizedCheckpoint>(
        std::move(checkpoint), quantization);
  }
  files.adapter = adapter.empty() && Has(own, kLoraConfigFile) ? own : adapter;
  if (files.adapter.empty()) return files;
  ASSIGN_OR_RETURN(std::unique_ptr<const LoraSource> merged,
                   LoraSource::Open(files.adapter, files.family.names,
                                    std::move(files.tensors)));
  ASSIGN_OR_RETURN(const bool grown, GrowVocabulary(*merged, files.family));
  files.tensors = std::move(merged);
  if (!grown) return files;
  if (files.generation) {
    ASSIGN_OR_RETURN(files.generation,
                     LoadGenerationDefaults(own, config, spec));
  }
  RETURN_IF_ERROR(TakeTokenizer(files.adapter, files));
  return files;
}

absl::StatusOr<ModelFiles> OpenDirectory(const std::string& directory,
                                         const std::string& adapter) {
  ASSIGN_OR_RETURN(const ModuleList modules, ReadModuleList(directory));
  const std::vector<RouteGroup>& groups = modules.groups;
  if (groups.size() > 1 && !adapter.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("adapter is ", adapter, ", but ", directory,
                     " is a Router to several models"));
  }
  ASSIGN_OR_RETURN(ModelFiles files, OpenGroup(groups.front(), adapter));
  files.role_routes = modules.roles;
  for (size_t i = 1; i < groups.size(); ++i) {
    ASSIGN_OR_RETURN(files.others.emplace_back(), OpenGroup(groups[i], ""));
  }
  return files;
}

// Returns the model that a directory with nothing but an adapter names.
absl::StatusOr<std::string> BaseOf(const std::string& adapter) {
  ASSIGN_OR_RETURN(const JsonFile json,
                   JsonFile::Load(absl::StrCat(adapter, "/", kLoraConfigFile)));
  ASSIGN_OR_RETURN(const LoraConfig config, ReadLoraConfig(json));
  std::error_code ignored;
  if (fs::is_directory(config.base, ignored)) return config.base;
  return absl::NotFoundError(absl::StrCat(
      adapter, ": is an adapter of ",
      config.base.empty() ? "a model that it does not name" : config.base,
      ", which is no directory here; load that model with the adapter: ",
      "--model=NAME=DIRECTORY --adapter=NAME=", ShellWord(adapter)));
}

}  // namespace

absl::Status CheckVocabularies(const Tokenizer& tokenizer,
                               const TransformerSpec& spec) {
  const auto check = [&](const char* side, int tokens, int rows) {
    if (tokens <= rows + std::max(kMaxExtraTokens, rows / 16)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrFormat(
        "the tokenizer has %d %s tokens, but the vocabulary of config.json "
        "has %d: it is that of another model",
        tokens, side, rows));
  };
  RETURN_IF_ERROR(check("source", tokenizer.vocab_size(Side::kSource),
                        spec.SourceEmbedding().vocab));
  if (!spec.decoder) return absl::OkStatus();
  return check("target", tokenizer.vocab_size(Side::kTarget),
               spec.decoder->embedding.vocab);
}

absl::StatusOr<ModelFiles> OpenModelFiles(const std::string& path,
                                          const std::string& adapter) {
  std::error_code ignored;
  const bool gguf = fs::is_regular_file(path, ignored);
  if (gguf || IsCtranslate2(path)) {
    if (adapter.empty()) return gguf ? OpenGguf(path) : OpenCtranslate2(path);
    return absl::InvalidArgumentError(
        absl::StrCat("adapter is ", adapter, ", but ", path,
                     " is no directory of Hugging Face, which it changes"));
  }
  if (!Has(path, kLoraConfigFile)) return OpenDirectory(path, adapter);
  if (!adapter.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "adapter is ", adapter, ", but ", path, " has an adapter of its own"));
  }
  if (Has(path, "config.json")) return OpenDirectory(path, path);
  ASSIGN_OR_RETURN(const std::string base, BaseOf(path));
  return OpenDirectory(base, path);
}

}  // namespace attend
