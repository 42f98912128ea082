#include "engine/families/shared/sentence_transformers.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/json/json_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr absl::string_view kModules =
    "a Transformer, a Pooling, any number of Dense, Normalize";

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
  if (!absl::StartsWith(type, "sentence_transformers.")) {
    return module.Unexpected("type", "a class of sentence_transformers");
  }
  return type.substr(type.rfind('.') + 1);
}

struct NamedPooling {
  const char* name;
  const char* flag;
  bool default_flag;
  std::optional<Pooling> pooling;  // none: not supported
};
constexpr NamedPooling kPoolings[] = {
    {"cls", "pooling_mode_cls_token", false, Pooling::kCls},
    {"mean", "pooling_mode_mean_tokens", true, Pooling::kMean},
    {"max", "pooling_mode_max_tokens", false, Pooling::kMax},
    {"lasttoken", "pooling_mode_lasttoken", false, Pooling::kLast},
    {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", false, {}},
    {"weightedmean", "pooling_mode_weightedmean_tokens", false, {}},
};
constexpr absl::string_view kSupportedPoolings =
    "one of cls, mean, max, lasttoken";

// Reads the pooling: one name in "pooling_mode", or a flag for each pooling.
absl::StatusOr<Pooling> PoolingOf(const JsonFile& config) {
  std::vector<std::string> names;
  const char* key = "pooling_mode";
  if (config.Has(key)) {
    ASSIGN_OR_RETURN(names, config.Strings(key));
  } else {
    for (const NamedPooling& known : kPoolings) {
      ASSIGN_OR_RETURN(const bool on,
                       config.BoolOr(known.flag, known.default_flag));
      if (!on) continue;
      names.push_back(known.name);
      if (!known.pooling || names.size() == 1) key = known.flag;
    }
  }
  for (const NamedPooling& known : kPoolings) {
    if (names.size() == 1 && names[0] == known.name && known.pooling) {
      return *known.pooling;
    }
  }
  return config.Unexpected(key, names.size() > 1
                                    ? absl::StrCat("only ", kSupportedPoolings)
                                    : std::string(kSupportedPoolings));
}

absl::Status ReadPooling(const JsonFile& config, TransformerSpec& spec) {
  const IntRange width = {spec.hidden, spec.hidden};
  for (const char* key : {"word_embedding_dimension", "embedding_dimension"}) {
    RETURN_IF_ERROR(config.IntOr(key, spec.hidden, width).status());
  }
  RETURN_IF_ERROR(ExpectFlags(config, {"include_prompt"}, true));
  ASSIGN_OR_RETURN(spec.embed.pooling, PoolingOf(config));
  return absl::OkStatus();
}

absl::StatusOr<Activation> TorchActivation(const JsonFile& config) {
  ASSIGN_OR_RETURN(const std::string name,
                   config.StringOr("activation_function",
                                   "torch.nn.modules.activation.Tanh"));
  if (absl::EndsWith(name, ".Identity")) return Activation::kNone;
  if (absl::EndsWith(name, ".Tanh")) return Activation::kTanh;
  if (absl::EndsWith(name, ".ReLU")) return Activation::kRelu;
  if (absl::EndsWith(name, ".GELU")) return Activation::kGelu;
  if (absl::EndsWith(name, ".SiLU")) return Activation::kSilu;
  return config.Unexpected("activation_function",
                           "Identity, Tanh, ReLU, GELU or SiLU of torch.nn");
}

absl::Status AddDense(const JsonFile& config, const std::string& folder,
                      Family& family) {
  std::vector<DenseSpec>& layers = family.spec.embed.layers;
  const int in = layers.empty() ? family.spec.hidden : layers.back().out;
  RETURN_IF_ERROR(Number(config, {"in_features"}, {in, in}).status());
  DenseSpec layer;
  ASSIGN_OR_RETURN(layer.out, Number(config, {"out_features"}, kHidden));
  ASSIGN_OR_RETURN(layer.activation, TorchActivation(config));
  ASSIGN_OR_RETURN(const Bias bias, BiasFlag(config, "bias", Bias::kYes));
  for (const char* key : {"module_input_name", "module_output_name"}) {
    ASSIGN_OR_RETURN(const std::string name,
                     config.StringOr(key, "sentence_embedding"));
    if (name != "sentence_embedding") {
      return config.Unexpected(key, "sentence_embedding");
    }
  }
  AddWeights(absl::StrCat("embed.", layers.size()), {folder + "/linear"}, bias,
             family.names);
  family.folders.push_back(folder);
  layers.push_back(layer);
  return absl::OkStatus();
}

// Adds module number `number`.
absl::Status AddModule(const std::string& directory, const JsonFile& module,
                       size_t number, Family& family) {
  EmbedSpec& embed = family.spec.embed;
  ASSIGN_OR_RETURN(const std::string type, ClassOf(module));
  ASSIGN_OR_RETURN(const std::string folder, module.StringOr("path", ""));
  const std::string config =
      absl::StrCat(directory, "/", folder, "/config.json");
  if ((type == "Transformer") != (number == 0) ||
      (type == "Pooling") != (number == 1) || embed.normalize) {
    return module.Unexpected("type", absl::StrCat(kModules, ", in this order"));
  }
  if (type == "Transformer") {
    return folder.empty() ? absl::OkStatus()
                          : module.Unexpected("path", "\"\"");
  }
  if (type == "Pooling") {
    DropHead(family);
    ASSIGN_OR_RETURN(const JsonFile pooling, JsonFile::Load(config));
    return ReadPooling(pooling, family.spec);
  }
  if (type == "Dense") {
    ASSIGN_OR_RETURN(const JsonFile dense, JsonFile::Load(config));
    return AddDense(dense, folder, family);
  }
  if (type == "Normalize") {
    embed.normalize = true;
    return absl::OkStatus();
  }
  return module.Unexpected("type", kModules);
}

// Reads max_seq_length. The name of the file depends on the model.
absl::Status ReadLongestSource(const std::string& directory, Family& family) {
  for (const char* model : {"bert", "roberta", "distilbert", "xlm-roberta"}) {
    ASSIGN_OR_RETURN(const auto file,
                     LoadIfThere(absl::StrCat(directory, "/sentence_", model,
                                              "_config.json")));
    if (!file) continue;
    RETURN_IF_ERROR(ExpectFlags(*file, {"do_lower_case"}, false));
    ASSIGN_OR_RETURN(family.max_text_tokens,
                     NumberOr(*file, "max_seq_length", 0, kPositions));
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status ReadModelConfig(const std::string& directory, Family& family) {
  ASSIGN_OR_RETURN(
      const auto file,
      LoadIfThere(directory + "/config_sentence_transformers.json"));
  if (!file) return absl::OkStatus();
  // The function of a CrossEncoder wins over that of config.json.
  ASSIGN_OR_RETURN(const auto scores, NamedScores(*file, "activation_fn"));
  if (scores) family.label_scores = family.pair_scores = *scores;
  if (file->Has("prompts")) {
    ASSIGN_OR_RETURN(family.prompts, file->StringMap("prompts"));
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

absl::Status ReadSentenceTransformers(const std::string& directory,
                                      Family& family) {
  const absl::StatusOr<std::vector<JsonFile>> modules =
      JsonFile::LoadList(directory + "/modules.json");
  if (absl::IsNotFound(modules.status())) return absl::OkStatus();
  RETURN_IF_ERROR(modules.status());
  if (!family.spec.encoder) {
    return absl::InvalidArgumentError(absl::StrCat(
        directory,
        "/modules.json: embeds texts, but the model has no encoder"));
  }
  for (size_t i = 0; i < modules->size(); ++i) {
    RETURN_IF_ERROR(AddModule(directory, (*modules)[i], i, family));
  }
  RETURN_IF_ERROR(ReadLongestSource(directory, family));
  return ReadModelConfig(directory, family);
}

}  // namespace attend
