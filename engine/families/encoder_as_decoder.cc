#include "engine/families/encoder_as_decoder.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// A possible decoder: the class of the encoder whose head the decoder has, the
// class of a decoder alone, and the prefix of the layers. RoBERTa's are none
// alone: generate() of transformers counts their positions from 0, where the
// model alone counts from the padding's id on.
struct DecoderKind {
  absl::string_view model_type;
  absl::string_view masked_lm;
  absl::string_view causal_lm;
  absl::string_view prefix;
};
constexpr DecoderKind kDecoders[] = {
    {"bert", "BertForMaskedLM", "BertLMHeadModel", "bert."},
    {"bert-generation", "BertGenerationDecoder", "BertGenerationDecoder",
     "bert."},
    {"roberta", "RobertaForMaskedLM", "", "roberta."},
    {"xlm-roberta", "XLMRobertaForMaskedLM", "", "roberta."},
};

absl::StatusOr<DecoderKind> KindOf(const JsonFile& section) {
  ASSIGN_OR_RETURN(const std::string name, section.String("model_type"));
  for (const DecoderKind& kind : kDecoders) {
    if (kind.model_type == name) return kind;
  }
  return section.Unexpected(
      "model_type",
      absl::StrCat("one of ",
                   absl::StrJoin(kDecoders, ", ",
                                 [](std::string* out, const DecoderKind& kind) {
                                   absl::StrAppend(out, kind.model_type);
                                 })));
}

// Describes the decoder as an encoder with a masked-LM head.
absl::StatusOr<JsonFile> AsEncoder(const JsonFile& section,
                                   const DecoderKind& kind) {
  ASSIGN_OR_RETURN(
      const JsonFile fields,
      JsonFile::Parse(
          section.path(),
          absl::StrCat(R"({"is_decoder": false, "add_cross_attention": false, )"
                       R"("architectures": [")",
                       kind.masked_lm, R"("]})")));
  return fields.WithFallback(section);
}

absl::StatusOr<Family> LoadKind(const JsonFile& section,
                                const DecoderKind& kind) {
  ASSIGN_OR_RETURN(const JsonFile encoder, AsEncoder(section, kind));
  ASSIGN_OR_RETURN(Family family, LoadFamily(encoder));
  TransformerSpec& spec = family.spec;
  spec.decoder = std::move(spec.encoder);
  spec.encoder.reset();
  // Generated tokens always count.
  spec.decoder->embedding.uncounted_id = -1;
  if (!spec.head->layers.empty()) {
    const DenseSpec& layer = spec.head->layers.front();
    spec.logits_projection = {
        .out = layer.out, .activation = layer.activation, .norm = layer.norm};
  }
  spec.head.reset();
  for (NameRow& row : family.names.rows) row.slot = DecoderSlot(row.slot);
  return family;
}

}  // namespace

std::string DecoderSlot(absl::string_view slot) {
  static constexpr std::pair<absl::string_view, absl::string_view> kPlaces[] = {
      {"encoder.", "decoder."}, {"head.0", "logits.projection"}};
  for (const auto& [from, to] : kPlaces) {
    if (absl::StartsWith(slot, from)) {
      return absl::StrCat(to, slot.substr(from.size()));
    }
  }
  return std::string(slot);
}

absl::StatusOr<Family> LoadCrossDecoder(const JsonFile& section) {
  ASSIGN_OR_RETURN(const DecoderKind kind, KindOf(section));
  RETURN_IF_ERROR(
      ExpectFlags(section, {"is_decoder", "add_cross_attention"}, true));
  ASSIGN_OR_RETURN(Family family, LoadKind(section, kind));
  for (LayerSpec& layer : family.spec.decoder->layers) {
    layer.cross_attention = layer.self_attention;
  }
  static constexpr SlotName kCross[] = {
      {"cross.q", "self.query"},          {"cross.k", "self.key"},
      {"cross.v", "self.value"},          {"cross.out", "output.dense"},
      {"cross.norm", "output.LayerNorm"},
  };
  AddList("decoder.{}.",
          {absl::StrCat(kind.prefix, "encoder.layer.{}.crossattention.")},
          kCross, Bias::kYes, family.names);
  return family;
}

absl::StatusOr<Family> LoadDecoderAlone(const JsonFile& config) {
  ASSIGN_OR_RETURN(const DecoderKind kind, KindOf(config));
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  const auto architecture = Architecture(config, {kind.causal_lm});
  if (!architecture.ok() || architecture->empty()) {
    return config.Unexpected(
        "is_decoder",
        absl::StrCat("false without ", kind.causal_lm, " in architectures"));
  }
  return LoadKind(config, kind);
}

}  // namespace attend
