// ESM-1b and ESM-2, of proteins: Rives et al. 2021, Lin et al. 2023.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/rotary_config.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kEsmClasses[] = {
    {"EsmModel"},
    {"EsmForMaskedLM", HeadKind::kMaskedLm},
    {"EsmForSequenceClassification", HeadKind::kSequence},
    {"EsmForTokenClassification", HeadKind::kTokens},
};

constexpr char kRotary[] = "rotary";
constexpr char kAbsolute[] = "absolute";

// The share of tokens that stayed in training: masks replaced 80 % of 15 %.
constexpr float kTrainedShare = 1 - 0.15f * 0.8f;

absl::StatusOr<EncoderKeys> KeysOf(const JsonFile& config) {
  constexpr char kType[] = "position_embedding_type";
  ASSIGN_OR_RETURN(const std::string type, config.StringOr(kType, kAbsolute));
  if (type == kRotary) return EncoderKeys{.position_type = kRotary};
  if (type == kAbsolute) return EncoderKeys{.position_type = kAbsolute};
  return config.Unexpected(kType, "rotary or absolute");
}

absl::Status ReadEmbedding(const JsonFile& config, EmbeddingSpec& embedding) {
  ASSIGN_OR_RETURN(const bool norm,
                   config.BoolOr("emb_layer_norm_before", false));
  if (!norm) embedding.norm.reset();
  ASSIGN_OR_RETURN(const bool drops, config.BoolOr("token_dropout", false));
  if (!drops) return absl::OkStatus();
  embedding.scale = kTrainedShare;
  ASSIGN_OR_RETURN(embedding.dropped_id,
                   Number(config, {"mask_token_id"}, kTokenId));
  return absl::OkStatus();
}

absl::Status ReadPositions(const JsonFile& config, bool rotary,
                           StackSpec& encoder) {
  if (!rotary) {
    ASSIGN_OR_RETURN(const int pad, Number(config, {"pad_token_id"}, kTokenId));
    return CountFromPad(config, pad, encoder.embedding);
  }
  const int head_dim = encoder.layers[0].self_attention.head_dim;
  if (head_dim % 2 != 0) {
    return config.Unexpected("num_attention_heads",
                             "heads of an even size, to be rotated");
  }
  ASSIGN_OR_RETURN(const double theta,
                   config.FloatOr("rope_theta", 10000, kRotaryTheta));
  encoder.embedding.positions = Positions::kNone;
  for (LayerSpec& layer : encoder.layers) {
    layer.self_attention.rotary = {
        RotaryFrequencies(static_cast<float>(theta), head_dim)};
  }
  // Files before transformers 5 have them for each layer, rounded to f16.
  encoder.stored_frequencies = true;
  return absl::OkStatus();
}

void AddEsmNames(bool rotary, StackSpec& encoder, NameTable& names) {
  const std::string prefix = "esm.";
  const std::vector<std::string> prefixes = {prefix, ""};
  AddWeights("encoder.embedding.norm",
             WithPrefixes(prefixes, {"embeddings.layer_norm"}), Bias::kYes,
             names);
  AddBertNames(prefix, names, {"attention.LayerNorm", "LayerNorm"});
  MoveNorms(prefix, "encoder.emb_layer_norm_after", encoder, names);
  // The head that makes contacts of attention weights is not computed.
  for (const char* contacts : {"esm.contact_head.*", "contact_head.*"}) {
    names.skipped.emplace_back(contacts);
  }
  if (!rotary) return;
  AddUnused(prefixes, {"embeddings.position_embeddings.weight"}, names);
  // transformers 5 saves the one with an asterisk.
  constexpr char kLayer[] = ".attention.self.rotary_embeddings.inv_freq";
  AddTensor("encoder.frequencies",
            WithPrefixes(prefixes, {"rotary_embeddings.inv_freq",
                                    absl::StrCat("encoder.layer.*", kLayer),
                                    absl::StrCat("encoder.layer.0", kLayer)}),
            names);
}

}  // namespace

absl::StatusOr<Family> LoadEsm(const JsonFile& config) {
  RETURN_IF_ERROR(ExpectFlags(config, {"is_folding_model"}, false));
  ASSIGN_OR_RETURN(const EncoderKeys keys, KeysOf(config));
  const bool rotary = keys.position_type == std::string(kRotary);
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, keys, epsilon));
  StackSpec& encoder = *family.spec.encoder;
  // hidden_act is not read: it is always this one.
  for (LayerSpec& layer : encoder.layers) {
    layer.feed_forward.activation = Activation::kGelu;
  }
  RETURN_IF_ERROR(ReadEmbedding(config, encoder.embedding));
  RETURN_IF_ERROR(ReadPositions(config, rotary, encoder));
  AddEsmNames(rotary, encoder, family.names);
  RETURN_IF_ERROR(AddUsualHead(config, kEsmClasses,
                               RobertaHeads(family.spec, "esm."), family));
  // transformers 5 saves gamma and beta.
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
