// EncoderDecoderModel of transformers: Rothe et al. 2020. An encoder, and a
// decoder that has the layers of one and cross-attention.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// A possible decoder: the class whose head the decoder has, and the prefix
// of its layers.
struct DecoderKind {
  absl::string_view model_type;
  absl::string_view masked_lm;
  absl::string_view prefix;
};
constexpr DecoderKind kDecoders[] = {
    {"bert", "BertForMaskedLM", "bert."},
    {"bert-generation", "BertGenerationDecoder", "bert."},
    {"roberta", "RobertaForMaskedLM", "roberta."},
    {"xlm-roberta", "XLMRobertaForMaskedLM", "roberta."},
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

// Puts `prefix` before the names of all tensors.
void Prefix(absl::string_view prefix, NameTable& names) {
  for (NameRow& row : names.rows) {
    for (std::string& tensor : row.tensors) {
      tensor.insert(0, prefix.data(), prefix.size());
    }
  }
  for (std::string& tensor : names.unused) {
    tensor.insert(0, prefix.data(), prefix.size());
  }
}

absl::StatusOr<Family> LoadEncoder(const JsonFile& section) {
  ASSIGN_OR_RETURN(const std::string name, section.String("model_type"));
  // No stacks within stacks, however deep a file nests them.
  if (name == "encoder-decoder" || name == "encoder_decoder") {
    return section.Unexpected("model_type", "that of an encoder");
  }
  // The class is that of a model which the encoder was taken from.
  ASSIGN_OR_RETURN(const JsonFile without_head,
                   JsonFile::Parse(section.path(), R"({"architectures": []})"));
  ASSIGN_OR_RETURN(Family family,
                   LoadFamily(without_head.WithFallback(section)));
  if (!family.spec.encoder || family.spec.decoder) {
    return section.Unexpected("model_type", "that of an encoder");
  }
  Prefix("encoder.", family.names);
  return family;
}

// The section of the decoder as an encoder with a masked-LM head.
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

// The slot of a decoder that has the place of an encoder's slot.
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

absl::StatusOr<Family> LoadDecoder(const JsonFile& section) {
  ASSIGN_OR_RETURN(const DecoderKind kind, KindOf(section));
  RETURN_IF_ERROR(
      ExpectFlags(section, {"is_decoder", "add_cross_attention"}, true));
  ASSIGN_OR_RETURN(const JsonFile encoder, AsEncoder(section, kind));
  ASSIGN_OR_RETURN(Family family, LoadFamily(encoder));
  TransformerSpec& spec = family.spec;
  spec.decoder = std::move(spec.encoder);
  spec.encoder.reset();
  // Generated tokens always count.
  spec.decoder->embedding.uncounted_id = -1;
  for (LayerSpec& layer : spec.decoder->layers) {
    layer.cross_attention = layer.self_attention;
  }
  if (!spec.head->layers.empty()) {
    const DenseSpec& layer = spec.head->layers.front();
    spec.logits_projection = {
        .out = layer.out, .activation = layer.activation, .norm = layer.norm};
  }
  spec.head.reset();
  for (NameRow& row : family.names.rows) row.slot = DecoderSlot(row.slot);
  static constexpr SlotName kCross[] = {
      {"cross.q", "self.query"},          {"cross.k", "self.key"},
      {"cross.v", "self.value"},          {"cross.out", "output.dense"},
      {"cross.norm", "output.LayerNorm"},
  };
  AddList("decoder.{}.",
          {absl::StrCat(kind.prefix, "encoder.layer.{}.crossattention.")},
          kCross, Bias::kYes, family.names);
  Prefix("decoder.", family.names);
  return family;
}

// Both stacks have one set of weights, of which files may hold one copy.
void TieStacks(NameTable& encoder, NameTable& decoder) {
  for (NameRow& source : encoder.rows) {
    for (NameRow& target : decoder.rows) {
      if (DecoderSlot(source.slot) != target.slot) continue;
      const std::vector<std::string> own = source.tensors;
      source.tensors.insert(source.tensors.end(), target.tensors.begin(),
                            target.tensors.end());
      target.tensors.insert(target.tensors.end(), own.begin(), own.end());
    }
  }
}

}  // namespace

absl::StatusOr<Family> LoadEncoderDecoder(const JsonFile& config) {
  RETURN_IF_ERROR(Architecture(config, {"EncoderDecoderModel"}).status());
  RETURN_IF_ERROR(ExpectFlags(config, {"is_encoder_decoder"}, true));
  RETURN_IF_ERROR(ExpectFlags(config, {"is_decoder"}, false));
  ASSIGN_OR_RETURN(const JsonFile source, config.Object("encoder"));
  ASSIGN_OR_RETURN(const JsonFile target, config.Object("decoder"));
  ASSIGN_OR_RETURN(Family encoder, LoadEncoder(source));
  ASSIGN_OR_RETURN(Family family, LoadDecoder(target));
  if (encoder.spec.hidden != family.spec.hidden) {
    return target.Unexpected(
        "hidden_size",
        absl::StrCat("that of the encoder, ", encoder.spec.hidden));
  }
  family.spec.encoder = std::move(encoder.spec.encoder);
  // transformers before 5 can tie the stacks.
  ASSIGN_OR_RETURN(const bool tied,
                   config.BoolOr("tie_encoder_decoder", false));
  if (tied) TieStacks(encoder.names, family.names);
  NameTable& names = family.names;
  names.rows.insert(names.rows.end(), encoder.names.rows.begin(),
                    encoder.names.rows.end());
  names.unused.insert(names.unused.end(), encoder.names.unused.begin(),
                      encoder.names.unused.end());
  return family;
}

}  // namespace attend
