// The stacks of Rothe et al. 2020: BERT without token types. An encoder-decoder
// of two of them has a section for each (encoder_decoder.cc).

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/encoder_as_decoder.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kClasses[] = {
    {"BertGenerationEncoder"},
    {"BertGenerationDecoder", HeadKind::kMaskedLm},
};

// Adds the vocabulary projection, which no other layer precedes.
absl::Status AddProjection(const JsonFile& config, Family& family) {
  AddHead(HeadKind::kMaskedLm, {}, family);
  std::vector<std::string> matrix = {"lm_head.decoder.weight"};
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  if (tied) matrix.push_back("bert.embeddings.word_embeddings.weight");
  const std::vector<std::string> bias = {"lm_head.decoder.bias",
                                         "lm_head.bias"};
  family.spec.logits_bias = true;
  AddTensor("logits.weight", matrix, family.names);
  AddTensor("logits.bias", bias, family.names);
  AddUnused({""}, bias, family.names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadBertGeneration(const JsonFile& config) {
  ASSIGN_OR_RETURN(const bool decodes, config.BoolOr("is_decoder", false));
  if (decodes) return LoadDecoderAlone(config);
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, {}, epsilon));
  AddBertNames("bert.", family.names);
  // There are no token types.
  std::erase_if(family.names.rows, [](const NameRow& row) {
    return row.slot == "encoder.embedding.types";
  });
  ASSIGN_OR_RETURN(const auto head, HeadOf(config, kClasses));
  if (head) RETURN_IF_ERROR(AddProjection(config, family));
  return family;
}

}  // namespace attend
