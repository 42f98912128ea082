#include "engine/families/shared/sentence_transformers.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/drop_decoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/logit_score.h"
#include "engine/families/shared/sentence_modules.h"
#include "engine/families/shared/stanford_colbert.h"
#include "engine/families/shared/token_heads.h"
#include "engine/families/shared/token_modules.h"
#include "engine/json/json_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr absl::string_view kModules =
    "a Transformer and a Pooling, or a StaticEmbedding, then any number of "
    "Dense, LayerNorm, Dropout, Normalize";

// A Transformer with code of its own in the repository, which chooses adapters.
constexpr absl::string_view kCustomTransformer = "custom_st.Transformer";

// Loads a file; nullopt if it is missing.
absl::StatusOr<std::optional<JsonFile>> LoadIfThere(const std::string& path) {
  absl::StatusOr<JsonFile> file = JsonFile::Load(path);
  if (absl::IsNotFound(file.status())) return std::nullopt;
  RETURN_IF_ERROR(file.status());
  return *std::move(file);
}

// The class of a module without its package, which has changed:
// "sentence_transformers.models.Pooling" became
// "sentence_transformers.sentence_transformer.modules.pooling.Pooling".
absl::StatusOr<std::string> ClassOf(const JsonFile& module) {
  ASSIGN_OR_RETURN(const std::string type, module.String("type"));
  if (type == kCustomTransformer) return "Transformer";
  // PyLate's classes have the names of those that they are made of.
  if (!absl::StartsWith(type, "sentence_transformers.") &&
      !absl::StartsWith(type, "pylate.models.")) {
    return module.Unexpected("type", "a class of sentence_transformers");
  }
  return type.substr(type.rfind('.') + 1);
}

// The folder of a module, "" for the model's own. INVALID_ARGUMENT if it may be
// outside of the model's directory.
absl::StatusOr<std::string> FolderOf(const JsonFile& module) {
  ASSIGN_OR_RETURN(std::string folder, module.StringOr("path", ""));
  if (folder == ".") folder.clear();
  if (folder == ".." || folder.find_first_of("/\\") != std::string::npos ||
      folder.find('\0') != std::string::npos) {
    return module.Unexpected("path", "the name of a folder");
  }
  return folder;
}

// Reads a module that follows the pooling.
absl::Status AddModule(const std::string& type, const std::string& config_path,
                       const std::string& folder, const JsonFile& module,
                       Family& family) {
  if (type == "Dropout") return absl::OkStatus();  // not in inference
  KeepNormalize(family.spec);
  if (type == "Normalize") {
    ASSIGN_OR_RETURN(const JsonFile config, JsonFile::LoadOrEmpty(config_path));
    return AddNormalize(config, Feature::kSentence, family.spec);
  }
  if (type != "Dense" && type != "LayerNorm") {
    return module.Unexpected("type", kModules);
  }
  ASSIGN_OR_RETURN(const JsonFile config, JsonFile::Load(config_path));
  return type == "Dense" ? AddDense(config, folder, Feature::kSentence, family)
                         : AddLayerNorm(config, folder, family);
}

// Reads the modules after the first.
absl::Status ReadModules(const std::string& directory,
                         const std::vector<JsonFile>& modules, bool pooled,
                         Family& family) {
  for (size_t i = 1; i < modules.size(); ++i) {
    ASSIGN_OR_RETURN(const std::string type, ClassOf(modules[i]));
    ASSIGN_OR_RETURN(const std::string folder, FolderOf(modules[i]));
    const std::string config =
        absl::StrCat(directory, "/", folder, "/config.json");
    if (type == "SpladePooling" && !pooled && i + 1 == modules.size()) {
      ASSIGN_OR_RETURN(const JsonFile splade, JsonFile::Load(config));
      return ReadSpladePooling(splade, family.spec);
    }
    if ((type == "Pooling") == pooled) {
      return modules[i].Unexpected("type", kModules);
    }
    if (pooled) {
      RETURN_IF_ERROR(AddModule(type, config, folder, modules[i], family));
      continue;
    }
    DropHead(family);
    ASSIGN_OR_RETURN(const JsonFile pooling, JsonFile::Load(config));
    RETURN_IF_ERROR(ReadPooling(pooling, family.spec));
    pooled = true;
  }
  return absl::OkStatus();
}

// Reads the settings of the transformer. The name of the file depends on the
// model's family; the first one counts.
absl::Status ReadSettings(const std::string& directory, Family& family) {
  for (const char* model : {"bert", "roberta", "distilbert", "camembert",
                            "albert", "xlm-roberta", "xlnet"}) {
    ASSIGN_OR_RETURN(const auto file,
                     LoadIfThere(absl::StrCat(directory, "/sentence_", model,
                                              "_config.json")));
    if (!file) continue;
    ASSIGN_OR_RETURN(family.lower_case, file->BoolOr("do_lower_case", false));
    ASSIGN_OR_RETURN(family.max_text_tokens,
                     NumberOr(*file, "max_seq_length", 0, kPositions));
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

// The code of a repository is known where it chooses adapters only.
absl::Status CheckCustom(const JsonFile& module, const Family& family) {
  ASSIGN_OR_RETURN(const std::string type, module.String("type"));
  if (type != kCustomTransformer || family.spec.adapters) {
    return absl::OkStatus();
  }
  return module.Unexpected(
      "type",
      "a class of sentence_transformers, as config.json has no adapters");
}

absl::Status ReadModelConfig(const std::string& directory, Family& family) {
  ASSIGN_OR_RETURN(
      const auto file,
      LoadIfThere(directory + "/config_sentence_transformers.json"));
  if (!file) return absl::OkStatus();
  // The function of a CrossEncoder wins over that of config.json.
  ASSIGN_OR_RETURN(const auto scores, NamedScores(*file, "activation_fn"));
  if (scores) family.label_scores = family.pair_scores = *scores;
  // The length of embeddings that are not asked for by `dimensions`.
  if (!family.spec.head && file->Has("truncate_dim")) {
    ASSIGN_OR_RETURN(const int dimensions,
                     Number(*file, {"truncate_dim"}, {1, kHidden.max}));
    AddCut(dimensions, family.spec);
  }
  if (file->Has("prompts")) {
    ASSIGN_OR_RETURN(auto prompts, file->StringMap("prompts"));
    prompts.merge(family.prompts);  // those of config.json, if others are named
    family.prompts = std::move(prompts);
  }
  ASSIGN_OR_RETURN(family.default_prompt,
                   file->StringOr("default_prompt_name", ""));
  if (family.default_prompt.empty()) return absl::OkStatus();
  if (family.spec.head) {
    return file->Unexpected("default_prompt_name",
                            "null: only texts to embed have prompts");
  }
  if (family.prompts.count(family.default_prompt) > 0) return absl::OkStatus();
  return file->Unexpected("default_prompt_name", "a name of prompts");
}

}  // namespace

// A decoder of a class without a head embeds, by the mean of its vectors, as
// SentenceTransformer() has it. A masked language model has sparse weights, as
// SparseEncoder of sentence-transformers makes them of one.
absl::Status ReadBareModel(const std::string& directory, Family& family) {
  ASSIGN_OR_RETURN(const bool compares, IsStanfordColbert(directory));
  if (compares) return ReadStanfordColbert(directory, family);
  const bool decodes = family.spec.decoder && !family.spec.encoder;
  if (family.without_head && decodes && family.spec.generates) {
    return PoolDecoder(family);
  }
  const auto& head = family.spec.head;
  if (head && head->kind == HeadKind::kMaskedLm && !family.spec.decoder) {
    family.spec.embed.sparse.emplace();
  }
  return absl::OkStatus();
}

absl::StatusOr<FirstModule> ReadFirstModule(const std::string& directory) {
  FirstModule first = {.directory = directory};
  const absl::StatusOr<std::vector<JsonFile>> modules =
      JsonFile::LoadList(directory + "/modules.json");
  if (absl::IsNotFound(modules.status())) return first;
  RETURN_IF_ERROR(modules.status());
  if (modules->empty()) return first;
  const JsonFile& module = modules->front();
  ASSIGN_OR_RETURN(const std::string type, ClassOf(module));
  if (type == "Router" || type == "Asym") {
    return module.Unexpected(
        "type",
        "a Transformer: the routes of a Router are models of their own, whose "
        "folders are served one by one");
  }
  if (type != "Transformer" && type != "MLMTransformer" &&
      type != "StaticEmbedding") {
    return module.Unexpected("type", kModules);
  }
  first.is_static = type == "StaticEmbedding";
  ASSIGN_OR_RETURN(first.folder, FolderOf(module));
  if (!first.folder.empty()) {
    first.directory = absl::StrCat(directory, "/", first.folder);
  }
  return first;
}

absl::Status ReadSentenceTransformers(const std::string& directory,
                                      Family& family) {
  ASSIGN_OR_RETURN(const FirstModule first, ReadFirstModule(directory));
  const absl::StatusOr<std::vector<JsonFile>> modules =
      JsonFile::LoadList(directory + "/modules.json");
  if (absl::IsNotFound(modules.status())) {
    return ReadBareModel(directory, family);
  }
  RETURN_IF_ERROR(modules.status());
  if (!modules->empty()) {
    RETURN_IF_ERROR(CheckCustom(modules->front(), family));
  }
  ASSIGN_OR_RETURN(const bool ranks,
                   ReadLogitScore(directory, *modules, family));
  if (!family.spec.encoder && family.spec.generates) {
    RETURN_IF_ERROR(PoolDecoder(family));
  }
  // sentence-transformers loads the encoder of T5 alone.
  if (family.spec.encoder && family.spec.decoder) DropDecoder(family);
  ASSIGN_OR_RETURN(const bool compares_tokens, ComparesTokens(directory));
  if (compares_tokens) {
    RETURN_IF_ERROR(ReadTokenModules(directory, *modules, family));
  } else if (!ranks) {
    RETURN_IF_ERROR(ReadModules(directory, *modules, first.is_static, family));
  }
  if (!first.is_static) {
    RETURN_IF_ERROR(ReadSettings(first.directory, family));
    if (family.spec.embed.pooled) AddTokenHeads(directory, family);
  }
  RETURN_IF_ERROR(ReadModelConfig(directory, family));
  if (!compares_tokens) return absl::OkStatus();
  return ReadTokenVectors(directory, first.directory, family);
}

}  // namespace attend
