// BART: Lewis et al. 2020.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/fairseq.h"
#include "engine/families/shared/seq2seq_heads.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kBartClasses[] = {
    {"BartForConditionalGeneration"},
    {"BartModel"},
    {"BartForSequenceClassification", HeadKind::kSequence},
    {"BartForQuestionAnswering", HeadKind::kSpans},
};

absl::Status AddBartHead(const JsonFile& config, Family& family) {
  ASSIGN_OR_RETURN(const auto head, HeadOf(config, kBartClasses));
  if (!head) return absl::OkStatus();
  return AddSeq2seqHead(config, *head, /*labels=*/3, family);
}

// Fields of transformers before 4.0 that would change the model.
absl::Status CheckBartSupported(const JsonFile& config) {
  RETURN_IF_ERROR(ExpectFlags(config, {"normalize_embedding"}, true));
  return ExpectFlags(
      config,
      {"normalize_before", "add_final_layer_norm", "add_bias_logits",
       "static_position_embeddings", "do_blenderbot_90_layernorm"},
      false);
}

}  // namespace

absl::StatusOr<Family> LoadBart(const JsonFile& config) {
  RETURN_IF_ERROR(CheckBartSupported(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec,
                   FairseqSpec(config, {.norm_place = NormPlace::kPost,
                                        .activation = "gelu",
                                        .scale_embedding = false}));
  UseBartEmbeddings(family);
  AddFairseqLogitsBias(family);
  RETURN_IF_ERROR(AddFairseqTokens(config, family));
  AddFairseqLayers(family);
  RETURN_IF_ERROR(AddBartHead(config, family));
  return family;
}

}  // namespace attend
