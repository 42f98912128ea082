#include "engine/families/shared/sentence_modules.h"

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

struct NamedPooling {
  const char* name;
  const char* flag;
  Pooling pooling;
};
// Several are concatenated in this order.
constexpr NamedPooling kPoolings[] = {
    {"cls", "pooling_mode_cls_token", Pooling::kCls},
    {"max", "pooling_mode_max_tokens", Pooling::kMax},
    {"mean", "pooling_mode_mean_tokens", Pooling::kMean},
    {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens",
     Pooling::kMeanSqrtLength},
    {"weightedmean", "pooling_mode_weightedmean_tokens",
     Pooling::kWeightedMean},
    {"lasttoken", "pooling_mode_lasttoken", Pooling::kLast},
};

std::optional<Pooling> PoolingNamed(absl::string_view name) {
  for (const NamedPooling& known : kPoolings) {
    if (name == known.name) return known.pooling;
  }
  return std::nullopt;
}

// Reads the poolings: names in "pooling_mode", in their order, or a flag for
// each pooling. If none is named, the vectors' mean is taken.
absl::StatusOr<std::vector<Pooling>> PoolingsOf(const JsonFile& config) {
  constexpr char kMode[] = "pooling_mode";
  std::vector<Pooling> poolings;
  poolings.reserve(std::size(kPoolings));
  if (!config.Has(kMode)) {
    for (const NamedPooling& known : kPoolings) {
      ASSIGN_OR_RETURN(const bool on, config.BoolOr(known.flag, false));
      if (on) poolings.push_back(known.pooling);
    }
    if (poolings.empty()) poolings = {Pooling::kMean};
    return poolings;
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, config.Strings(kMode));
  poolings.reserve(names.size());
  for (const std::string& name : names) {
    const std::optional<Pooling> pooling = PoolingNamed(name);
    if (!pooling) poolings.clear();
    if (!pooling) break;
    poolings.push_back(*pooling);
  }
  if (!poolings.empty()) return poolings;
  return config.Unexpected(kMode,
                           "some of cls, max, mean, mean_sqrt_len_tokens, "
                           "weightedmean, lasttoken");
}

// An activation of torch.nn: of the matmul, or of single numbers.
struct TorchFunction {
  absl::string_view name;
  Activation activation = Activation::kNone;
  Pointwise pointwise = Pointwise::kNone;
};
constexpr TorchFunction kFunctions[] = {
    {"Identity"},
    {"Tanh", Activation::kTanh},
    {"ReLU", Activation::kRelu},
    {"GELU", Activation::kGelu},
    {"SiLU", Activation::kSilu},
    {"Sigmoid", Activation::kNone, Pointwise::kSigmoid},
    {"LogSigmoid", Activation::kNone, Pointwise::kLogSigmoid},
    {"ReLU6", Activation::kNone, Pointwise::kRelu6},
    {"LeakyReLU", Activation::kNone, Pointwise::kLeakyRelu},
    {"ELU", Activation::kNone, Pointwise::kElu},
    {"CELU", Activation::kNone, Pointwise::kElu},
    {"SELU", Activation::kNone, Pointwise::kSelu},
    {"Hardtanh", Activation::kNone, Pointwise::kHardtanh},
    {"Hardsigmoid", Activation::kNone, Pointwise::kHardsigmoid},
    {"Hardswish", Activation::kNone, Pointwise::kHardswish},
    {"Hardshrink", Activation::kNone, Pointwise::kHardshrink},
    {"Softshrink", Activation::kNone, Pointwise::kSoftshrink},
    {"Tanhshrink", Activation::kNone, Pointwise::kTanhshrink},
    {"Softplus", Activation::kNone, Pointwise::kSoftplus},
    {"Softsign", Activation::kNone, Pointwise::kSoftsign},
    {"Mish", Activation::kNone, Pointwise::kMish},
    {"RReLU", Activation::kNone, Pointwise::kRrelu},
};

absl::Status ReadActivation(const JsonFile& config, DenseSpec& layer) {
  constexpr char kKey[] = "activation_function";
  ASSIGN_OR_RETURN(const std::string name,
                   config.StringOr(kKey, "torch.nn.modules.activation.Tanh"));
  // A class of another package is not trusted by sentence-transformers, which
  // then computes tanh.
  if (absl::StartsWith(name, "torch.")) {
    for (const TorchFunction& known : kFunctions) {
      if (name.substr(name.rfind('.') + 1) != known.name) continue;
      layer.activation = known.activation;
      layer.pointwise = known.pointwise;
      return absl::OkStatus();
    }
  }
  return config.Unexpected(kKey,
                           "a function of single numbers in torch.nn, such as "
                           "torch.nn.modules.activation.Tanh");
}

absl::Status ExpectFeature(const JsonFile& config, Feature feature) {
  const char* const expected =
      feature == Feature::kSentence ? "sentence_embedding" : "token_embeddings";
  for (const char* key : {"module_input_name", "module_output_name"}) {
    ASSIGN_OR_RETURN(const std::string name, config.StringOr(key, expected));
    if (name != expected) return config.Unexpected(key, expected);
  }
  return absl::OkStatus();
}

// The layers of a feature, and the prefix of their slots.
std::vector<DenseSpec>& LayersOf(Feature feature, EmbedSpec& embed) {
  if (feature == Feature::kSentence) return embed.layers;
  if (!embed.tokens) embed.tokens.emplace();
  return embed.tokens->layers;
}
const char* SlotOf(Feature feature) {
  return feature == Feature::kSentence ? "embed." : "tokens.";
}
int WidthOf(Feature feature, const TransformerSpec& spec) {
  return feature == Feature::kSentence ? spec.EmbedWidth() : spec.TokenWidth();
}

// Appends a layer without a map, for what it does afterwards.
DenseSpec& AddIdentity(TransformerSpec& spec,
                       Feature feature = Feature::kSentence) {
  DenseSpec layer;
  layer.out = WidthOf(feature, spec);
  layer.linear = false;
  return LayersOf(feature, spec.embed).emplace_back(layer);
}

}  // namespace

absl::Status ReadPooling(const JsonFile& config, TransformerSpec& spec) {
  const IntRange width = {spec.hidden, spec.hidden};
  for (const char* key : {"word_embedding_dimension", "embedding_dimension"}) {
    RETURN_IF_ERROR(config.IntOr(key, spec.hidden, width).status());
  }
  ASSIGN_OR_RETURN(spec.embed.pools_prompt,
                   config.BoolOr("include_prompt", true));
  ASSIGN_OR_RETURN(spec.embed.poolings, PoolingsOf(config));
  spec.embed.normalize = false;  // unless a module follows
  return absl::OkStatus();
}

absl::Status ReadSpladePooling(const JsonFile& config, TransformerSpec& spec) {
  if (!spec.head || spec.head->kind != HeadKind::kMaskedLm) {
    return absl::InvalidArgumentError(
        absl::StrCat(config.path(),
                     ": a SpladePooling needs a masked-LM head, which the "
                     "class in config.json does not have"));
  }
  SparseSpec& sparse = spec.embed.sparse.emplace();
  ASSIGN_OR_RETURN(const std::string strategy,
                   config.StringOr("pooling_strategy", "max"));
  if (strategy != "max" && strategy != "sum") {
    return config.Unexpected("pooling_strategy", "max or sum");
  }
  sparse.sums = strategy == "sum";
  ASSIGN_OR_RETURN(const std::string function,
                   config.StringOr("activation_function", "relu"));
  if (function != "relu" && function != "log1p_relu") {
    return config.Unexpected("activation_function", "relu or log1p_relu");
  }
  sparse.logs = function == "relu" ? 1 : 2;
  spec.embed.pooled = false;
  return absl::OkStatus();
}

absl::Status AddDense(const JsonFile& config, const std::string& folder,
                      Feature feature, Family& family) {
  const int in = WidthOf(feature, family.spec);
  RETURN_IF_ERROR(Number(config, {"in_features"}, {in, in}).status());
  RETURN_IF_ERROR(ExpectFeature(config, feature));
  DenseSpec layer;
  ASSIGN_OR_RETURN(layer.out, Number(config, {"out_features"}, kHidden));
  RETURN_IF_ERROR(ReadActivation(config, layer));
  ASSIGN_OR_RETURN(const Bias bias, BiasFlag(config, "bias", Bias::kYes));
  ASSIGN_OR_RETURN(layer.residual, config.BoolOr("use_residual", false));
  std::vector<DenseSpec>& layers = LayersOf(feature, family.spec.embed);
  const std::string slot = absl::StrCat(SlotOf(feature), layers.size());
  AddWeights(slot, {folder + "/linear"}, bias, family.names);
  if (layer.residual && layer.out != in) {
    AddWeights(slot + ".residual", {folder + "/residual"}, Bias::kNo,
               family.names);
  }
  family.folders.push_back(folder);
  layers.push_back(layer);
  return absl::OkStatus();
}

absl::Status AddLayerNorm(const JsonFile& config, const std::string& folder,
                          Family& family) {
  const int width = family.spec.EmbedWidth();
  RETURN_IF_ERROR(Number(config, {"dimension"}, {width, width}).status());
  const size_t index = family.spec.embed.layers.size();
  AddIdentity(family.spec).norm = NormSpec();
  AddWeights(absl::StrCat("embed.", index, ".norm"), {folder + "/norm"},
             Bias::kYes, family.names);
  family.folders.push_back(folder);
  return absl::OkStatus();
}

absl::Status AddNormalize(const JsonFile& config, Feature feature,
                          TransformerSpec& spec) {
  RETURN_IF_ERROR(ExpectFeature(config, feature));
  if (feature == Feature::kSentence) spec.embed.normalize = true;
  if (feature == Feature::kTokens) {
    AddIdentity(spec, feature).unit_length = true;
  }
  return absl::OkStatus();
}

void KeepNormalize(TransformerSpec& spec) {
  if (!spec.embed.normalize) return;
  AddIdentity(spec).unit_length = true;
  spec.embed.normalize = false;
}

void AddCut(int dimensions, TransformerSpec& spec) {
  if (dimensions >= spec.EmbedWidth()) return;
  KeepNormalize(spec);
  AddIdentity(spec).out = dimensions;
}

}  // namespace attend
