#include "engine/families/shared/sentence_transformers.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
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

// Loads a file; nullopt if it is missing.
absl::StatusOr<std::optional<JsonFile>> LoadIfThere(const std::string& path) {
  absl::StatusOr<JsonFile> file = JsonFile::Load(path);
  if (absl::IsNotFound(file.status())) return std::nullopt;
  RETURN_IF_ERROR(file.status());
  return *std::move(file);
}

// Reads a module that follows the pooling.
absl::Status AddModule(const SentenceModule& module,
                       const std::string& config_path, Family& family) {
  const std::string& type = module.type;
  if (type == "Dropout") return absl::OkStatus();  // not in inference
  KeepNormalize(family.spec);
  if (type == "Normalize") {
    ASSIGN_OR_RETURN(const JsonFile config, JsonFile::LoadOrEmpty(config_path));
    return AddNormalize(config, Feature::kSentence, family.spec);
  }
  if (type != "Dense" && type != "LayerNorm") {
    return module.Unexpected(kModules);
  }
  ASSIGN_OR_RETURN(const JsonFile config, JsonFile::Load(config_path));
  return type == "Dense"
             ? AddDense(config, module.folder, Feature::kSentence, family)
             : AddLayerNorm(config, module.folder, family);
}

// Reads the modules after the first.
absl::Status ReadModules(const RouteGroup& group,
                         const std::vector<SentenceModule>& modules,
                         Family& family) {
  const FirstModule::Kind kind = group.first.kind;
  bool pooled = kind == FirstModule::Kind::kStatic;
  for (size_t i = 1; i < modules.size(); ++i) {
    const SentenceModule& module = modules[i];
    if (kind == FirstModule::Kind::kSparseStatic) {
      return module.Unexpected("no module after a SparseStaticEmbedding");
    }
    const std::string config =
        absl::StrCat(group.directory, "/", module.folder, "/config.json");
    if (module.type == "SpladePooling" && !pooled && i + 1 == modules.size()) {
      ASSIGN_OR_RETURN(const JsonFile splade, JsonFile::Load(config));
      return ReadSpladePooling(splade, family.spec);
    }
    if ((module.type == "Pooling") == pooled)
      return module.Unexpected(kModules);
    if (pooled) {
      RETURN_IF_ERROR(AddModule(module, config, family));
      continue;
    }
    DropHead(family);
    ASSIGN_OR_RETURN(const JsonFile pooling, JsonFile::Load(config));
    RETURN_IF_ERROR(ReadPooling(pooling, family.spec));
    pooled = true;
  }
  return absl::OkStatus();
}

// Reads a route: its modules, and the length of embeddings that are not asked
// for by `dimensions`.
absl::Status ReadRoute(const RouteGroup& group, size_t route,
                       const JsonFile& config, Family& family) {
  RETURN_IF_ERROR(ReadModules(group, group.routes[route], family));
  if (family.spec.head || !config.Has("truncate_dim")) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int dimensions,
                   Number(config, {"truncate_dim"}, {1, kHidden.max}));
  AddCut(dimensions, family.spec);
  return absl::OkStatus();
}

// Adds what `other`, the same family on another route, has read.
absl::Status AddRoute(Family other, const SentenceModule& last,
                      Family& family) {
  if (other.spec.head.has_value() != family.spec.head.has_value()) {
    return last.Unexpected(
        "the same head on all routes of a Transformer: a SpladePooling on each "
        "or on none");
  }
  family.spec.routes.push_back(std::move(other.spec.embed));
  const std::string slot = absl::StrCat("embed", family.spec.routes.size());
  for (NameRow& row : other.names.rows) {
    absl::string_view rest = row.slot;
    if (!absl::ConsumePrefix(&rest, "embed.")) continue;
    row.slot = absl::StrCat(slot, ".", rest);
    family.names.rows.push_back(std::move(row));
  }
  for (const std::string& folder : other.folders) {
    if (absl::c_linear_search(family.folders, folder)) continue;
    family.folders.push_back(folder);
  }
  return absl::OkStatus();
}

// Reads the routes of a group that embed texts.
absl::Status ReadRoutes(const RouteGroup& group, const JsonFile& config,
                        Family& family) {
  const Family before = family;
  RETURN_IF_ERROR(ReadRoute(group, 0, config, family));
  for (size_t i = 1; i < group.routes.size(); ++i) {
    Family other = before;
    RETURN_IF_ERROR(ReadRoute(group, i, config, other));
    RETURN_IF_ERROR(AddRoute(std::move(other), group.routes[i].back(), family));
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
absl::Status CheckCustom(const SentenceModule& module, const Family& family) {
  ASSIGN_OR_RETURN(const std::string type, module.entry.String(module.key));
  if (type != kCustomTransformer || family.spec.adapters) {
    return absl::OkStatus();
  }
  return module.Unexpected(
      "a class of sentence_transformers, as config.json has no adapters");
}

// Reads config_sentence_transformers.json.
absl::Status ReadModelConfig(const JsonFile& config, Family& family) {
  // The function of a CrossEncoder wins over that of config.json.
  ASSIGN_OR_RETURN(const auto scores, NamedScores(config, "activation_fn"));
  if (scores) family.label_scores = family.pair_scores = *scores;
  if (config.Has("prompts")) {
    ASSIGN_OR_RETURN(auto prompts, config.StringMap("prompts"));
    prompts.merge(family.prompts);  // those of config.json, if others are named
    family.prompts = std::move(prompts);
  }
  ASSIGN_OR_RETURN(family.default_prompt,
                   config.StringOr("default_prompt_name", ""));
  if (family.default_prompt.empty()) return absl::OkStatus();
  if (family.spec.head) {
    return config.Unexpected("default_prompt_name",
                             "null: only texts to embed have prompts");
  }
  if (family.prompts.count(family.default_prompt) > 0) return absl::OkStatus();
  return config.Unexpected("default_prompt_name", "a name of prompts");
}

// A decoder of a class without a head embeds, by the mean of its vectors, as
// SentenceTransformer() has it. A masked language model has sparse weights, as
// SparseEncoder of sentence-transformers makes them of one.
absl::Status ReadBareModel(const std::string& directory, Family& family) {
  if (family.stanford_colbert) return ReadStanfordColbert(directory, family);
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

}  // namespace

absl::Status ReadSentenceTransformers(const RouteGroup& group, Family& family) {
  if (!group.listed) return ReadBareModel(group.directory, family);
  const std::vector<SentenceModule>& modules = group.routes.front();
  ASSIGN_OR_RETURN(const JsonFile config,
                   JsonFile::LoadOrEmpty(group.directory +
                                         "/config_sentence_transformers.json"));
  if (!modules.empty()) {
    RETURN_IF_ERROR(CheckCustom(modules.front(), family));
  }
  ASSIGN_OR_RETURN(const bool ranks,
                   ReadLogitScore(group.directory, modules, family));
  if (!family.spec.encoder && family.spec.generates) {
    RETURN_IF_ERROR(PoolDecoder(family));
  }
  // sentence-transformers loads the encoder of T5 alone.
  if (family.spec.encoder && family.spec.decoder) DropDecoder(family);
  ASSIGN_OR_RETURN(const bool compares_tokens, ComparesTokens(config));
  if (group.routed && (ranks || compares_tokens)) {
    return modules.back().Unexpected(
        "no Router in a model that compares tokens or ranks pairs");
  }
  if (compares_tokens) {
    RETURN_IF_ERROR(ReadTokenModules(group.directory, modules, config, family));
  } else if (!ranks) {
    RETURN_IF_ERROR(ReadRoutes(group, config, family));
  }
  if (group.first.kind == FirstModule::Kind::kTransformer) {
    RETURN_IF_ERROR(ReadSettings(group.first.directory, family));
    if (family.spec.embed.pooled && !group.routed) {
      AddTokenHeads(group.directory, family);
    }
  }
  RETURN_IF_ERROR(ReadModelConfig(config, family));
  if (!compares_tokens) return absl::OkStatus();
  return ReadTokenVectors(config, group.first.directory, family);
}

}  // namespace attend
