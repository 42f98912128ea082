// Marian: Junczys-Dowmunt et al. 2018; the models of OPUS-MT.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/fairseq.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Checks that the configuration describes a model that Attend computes.
absl::Status CheckMarianSupported(const JsonFile& config) {
  RETURN_IF_ERROR(Architecture(config, {"MarianMTModel"}).status());
  RETURN_IF_ERROR(ExpectFlags(config, {"static_position_embeddings"}, true));
  return ExpectFlags(
      config,
      {"normalize_before", "normalize_embedding", "add_final_layer_norm"},
      false);
}

// Names the token tables if source and target have separate vocabularies.
absl::Status NameSeparateTokens(const JsonFile& config, Family& family) {
  const std::vector<std::string> shared = {"model.shared.weight"};
  const TableName source = {"encoder.embedding.tokens",
                            {"model.encoder.embed_tokens.weight"}};
  const TableName target = {"decoder.embedding.tokens",
                            {"model.decoder.embed_tokens.weight"}};
  const TableName logits = {"logits.weight", {"lm_head.weight"}};
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddTied({source}, shared, family.names);
  if (tied) {
    AddTied({target, logits}, {}, family.names);
  } else {
    AddTied({target}, shared, family.names);
    AddTied({logits}, {}, family.names);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadMarian(const JsonFile& config) {
  RETURN_IF_ERROR(CheckMarianSupported(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec,
                   FairseqSpec(config, {.norm_place = NormPlace::kPost,
                                        .activation = "gelu",
                                        .scale_embedding = false}));
  if (family.spec.hidden % 2 != 0) {
    return config.Unexpected("d_model", "an even number, for the sinusoids");
  }
  AddUnusedPositions(family);
  AddFairseqLogitsBias(family);
  ASSIGN_OR_RETURN(const bool shared,
                   config.BoolOr("share_encoder_decoder_embeddings", true));
  if (shared) {
    RETURN_IF_ERROR(AddFairseqTokens(config, family));
  } else {
    EmbeddingSpec& target = family.spec.decoder->embedding;
    ASSIGN_OR_RETURN(target.vocab, NumberOr(config, "decoder_vocab_size",
                                            target.vocab, kVocab));
    RETURN_IF_ERROR(NameSeparateTokens(config, family));
  }
  AddFairseqLayers(family);
  return family;
}

}  // namespace attend
