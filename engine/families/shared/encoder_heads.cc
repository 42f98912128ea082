#include "engine/families/shared/encoder_heads.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/families/shared/config_fields.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr int kMaxLabels = 1 << 20;
constexpr char kTokens[] = "encoder.embedding.tokens";

absl::StatusOr<std::vector<std::string>> Labels(const JsonFile& config,
                                                int default_count) {
  std::vector<std::string> labels;
  if (config.Has("id2label")) {
    ASSIGN_OR_RETURN(const auto by_id, config.StringMap("id2label"));
    for (size_t id = 0; id < by_id.size(); ++id) {
      const auto found = by_id.find(absl::StrCat(id));
      // As many labels as entries: transformers counts them.
      labels.push_back(found == by_id.end() ? absl::StrCat("LABEL_", id)
                                            : found->second);
    }
    if (labels.empty()) return config.Unexpected("id2label", "labels");
    const int size = static_cast<int>(labels.size());
    ASSIGN_OR_RETURN(const int wanted,
                     NumberOr(config, "num_labels", size, {1, kMaxLabels}));
    if (wanted == size) return labels;
    // transformers names the labels itself, with a warning.
    labels.clear();
  }
  ASSIGN_OR_RETURN(const int count, NumberOr(config, "num_labels",
                                             default_count, {1, kMaxLabels}));
  for (int id = 0; id < count; ++id) {
    labels.push_back(absl::StrCat("LABEL_", id));
  }
  return labels;
}

// The function of a CrossEncoder that config.json names; nullopt: it names
// none.
absl::StatusOr<std::optional<LabelScores>> CrossEncoderScores(
    const JsonFile& config) {
  if (config.Has("sentence_transformers")) {
    ASSIGN_OR_RETURN(const JsonFile section,
                     config.Object("sentence_transformers"));
    ASSIGN_OR_RETURN(const auto named, NamedScores(section, "activation_fn"));
    if (named) return named;
  }
  return NamedScores(config, "sbert_ce_default_activation_function");
}

// The function that the text-classification pipeline of transformers applies.
absl::StatusOr<LabelScores> PipelineScores(const JsonFile& config,
                                           size_t labels) {
  ASSIGN_OR_RETURN(const std::string problem,
                   config.StringOr("problem_type", ""));
  if (problem == "regression") return LabelScores::kRaw;
  if (problem == "multi_label_classification") return LabelScores::kSigmoid;
  if (!problem.empty() && problem != "single_label_classification") {
    return config.Unexpected("problem_type",
                             "regression, single_label_classification or "
                             "multi_label_classification");
  }
  return labels == 1 ? LabelScores::kSigmoid : LabelScores::kSoftmax;
}

const NameRow& RowOf(const NameTable& names, absl::string_view slot) {
  const auto found =
      std::find_if(names.rows.begin(), names.rows.end(),
                   [&](const NameRow& row) { return row.slot == slot; });
  ATTEND_CHECK(found != names.rows.end());
  return *found;
}

}  // namespace

absl::StatusOr<const HeadClass*> ClassOf(const JsonFile& config,
                                         absl::Span<const HeadClass> classes) {
  std::vector<absl::string_view> supported;
  for (const HeadClass& known : classes) supported.push_back(known.name);
  ASSIGN_OR_RETURN(const std::string name, Architecture(config, supported));
  for (const HeadClass& known : classes) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

absl::StatusOr<std::optional<HeadKind>> HeadOf(
    const JsonFile& config, absl::Span<const HeadClass> classes) {
  ASSIGN_OR_RETURN(const HeadClass* found, ClassOf(config, classes));
  return found == nullptr ? std::nullopt : found->head;
}

absl::StatusOr<std::optional<LabelScores>> NamedScores(const JsonFile& config,
                                                       absl::string_view key) {
  if (!config.Has(key)) return std::nullopt;
  ASSIGN_OR_RETURN(const std::string name, config.String(key));
  if (absl::EndsWith(name, ".Identity")) return LabelScores::kRaw;
  if (absl::EndsWith(name, ".Sigmoid")) return LabelScores::kSigmoid;
  return config.Unexpected(key,
                           "torch.nn.modules.linear.Identity or "
                           "torch.nn.modules.activation.Sigmoid");
}

absl::Status ReadLabels(const JsonFile& config, HeadKind head, Family& family,
                        int count) {
  if (head != HeadKind::kSequence && head != HeadKind::kTokens) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(family.labels, Labels(config, count));
  // The labels of a token exclude each other: softmax.
  if (head == HeadKind::kTokens) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto named, CrossEncoderScores(config));
  ASSIGN_OR_RETURN(const LabelScores pipeline,
                   PipelineScores(config, family.labels.size()));
  family.label_scores = named.value_or(pipeline);
  family.pair_scores = named.value_or(LabelScores::kSigmoid);
  return absl::OkStatus();
}

void AddHead(HeadKind head, absl::Span<const HeadLayer> layers,
             Family& family) {
  HeadSpec& spec = family.spec.head.emplace();
  spec.kind = head;
  for (const HeadLayer& layer : layers) {
    const std::string slot = absl::StrCat("head.", spec.layers.size());
    AddWeights(slot, {layer.tensor}, layer.bias, family.names);
    if (layer.spec.norm) {
      AddWeights(slot + ".norm", {layer.norm}, layer.norm_bias, family.names);
    }
    spec.layers.push_back(layer.spec);
    if (layer.spec.out == 0) {
      spec.layers.back().out = static_cast<int>(family.labels.size());
    }
  }
}

absl::Status AddMaskedLm(const JsonFile& config, const HeadLayer& layer,
                         const std::string& decoder,
                         const std::vector<std::string>& bias, Family& family) {
  AddHead(HeadKind::kMaskedLm, {layer}, family);
  std::vector<std::string> matrix = {decoder + ".weight"};
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  if (tied) {
    const NameRow& tokens = RowOf(family.names, kTokens);
    matrix.insert(matrix.end(), tokens.tensors.begin(), tokens.tensors.end());
  }
  AddTensor("logits.weight", std::move(matrix), family.names);
  family.spec.logits_bias = !bias.empty();
  if (bias.empty()) return absl::OkStatus();
  AddTensor("logits.bias", bias, family.names);
  // A checkpoint may have a tied bias under several names.
  AddUnused({""}, bias, family.names);
  return absl::OkStatus();
}

absl::Status AddUsualHead(const JsonFile& config,
                          absl::Span<const HeadClass> classes,
                          const UsualHeads& heads, Family& family) {
  ASSIGN_OR_RETURN(const HeadClass* const named, ClassOf(config, classes));
  if (named == nullptr || !named->head) return absl::OkStatus();
  const std::optional<HeadKind> head = named->head;
  RETURN_IF_ERROR(ReadLabels(config, *head, family));
  switch (*head) {
    case HeadKind::kSequence: {
      std::vector<HeadLayer> layers = heads.sequence;
      if (!named->last.empty()) layers.back().tensor = std::string(named->last);
      AddHead(*head, layers, family);
      break;
    }
    case HeadKind::kTokens:
      AddHead(*head, {{"classifier", {}}}, family);
      break;
    case HeadKind::kSpans:
      AddHead(*head, {{"qa_outputs", {2}}}, family);
      break;
    case HeadKind::kChoice:
      AddHead(*head, heads.choice, family);
      family.spec.head->pooling = heads.choice_pooling;
      break;
    case HeadKind::kMaskedLm:
      return AddMaskedLm(config, heads.masked_lm, heads.decoder,
                         heads.decoder_bias, family);
  }
  return absl::OkStatus();
}

UsualHeads BertHeads(const TransformerSpec& spec, const std::string& prefix) {
  const LayerSpec& layer = spec.encoder->layers[0];
  return {
      .sequence = {{prefix + "pooler.dense", {spec.hidden, Activation::kTanh}},
                   {"classifier", {}}},
      .choice = {{prefix + "pooler.dense", {spec.hidden, Activation::kTanh}},
                 {"classifier", {1}}},
      .masked_lm = {"cls.predictions.transform.dense",
                    {spec.hidden, layer.feed_forward.activation, layer.norm},
                    "cls.predictions.transform.LayerNorm"},
      .decoder = "cls.predictions.decoder",
      .decoder_bias = {"cls.predictions.decoder.bias", "cls.predictions.bias"}};
}

UsualHeads RobertaHeads(const TransformerSpec& spec,
                        const std::string& prefix) {
  return {
      .sequence = {{"classifier.dense", {spec.hidden, Activation::kTanh}},
                   {"classifier.out_proj", {}}},
      .choice = {{prefix + "pooler.dense", {spec.hidden, Activation::kTanh}},
                 {"classifier", {1}}},
      .masked_lm = {"lm_head.dense",
                    {spec.hidden, Activation::kGelu,
                     spec.encoder->layers[0].norm},
                    "lm_head.layer_norm"},
      .decoder = "lm_head.decoder",
      .decoder_bias = {"lm_head.decoder.bias", "lm_head.bias"}};
}

void DropHead(Family& family) {
  std::vector<NameRow> rows;
  for (NameRow& row : family.names.rows) {
    if (absl::StartsWith(row.slot, "head.") ||
        absl::StartsWith(row.slot, "logits.")) {
      AddUnused({""}, row.tensors, family.names);
    } else {
      rows.push_back(std::move(row));
    }
  }
  family.names.rows = std::move(rows);
  family.spec.head.reset();
  family.spec.logits_bias = false;
  family.labels.clear();
}

}  // namespace attend
