// FSMT, the models of FAIR for WMT19: Ng et al. 2019.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/fairseq.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Names the token tables: source and target have separate vocabularies, unless
// all tables are tied. The logits have the target's table.
absl::Status AddFsmtTokens(const JsonFile& config, NameTable& names) {
  const auto named = [](const char* tensor) {
    return WithPrefixes({"model.", ""}, {tensor});
  };
  const TableName source = {"encoder.embedding.tokens",
                            named("encoder.embed_tokens.weight")};
  const TableName target = {"decoder.embedding.tokens",
                            named("decoder.embed_tokens.weight")};
  const TableName logits = {"logits.weight",
                            named("decoder.output_projection.weight")};
  ASSIGN_OR_RETURN(const bool tied,
                   config.BoolOr("tie_word_embeddings", false));
  if (tied) {
    AddTied({source, target, logits}, {}, names);
  } else {
    AddTied({source}, {}, names);
    AddTied({target, logits}, {}, names);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadFsmt(const JsonFile& config) {
  RETURN_IF_ERROR(
      Architecture(config, {"FSMTForConditionalGeneration", "FSMTModel"})
          .status());
  Family family;
  ASSIGN_OR_RETURN(family.spec,
                   FairseqSpec(config, {.norm_place = NormPlace::kPost,
                                        .activation = "relu",
                                        .scale_embedding = true,
                                        .source_vocab = "src_vocab_size",
                                        .target_vocab = "tgt_vocab_size"}));
  RETURN_IF_ERROR(UseCountedSinusoids(config, family));
  RETURN_IF_ERROR(AddFsmtTokens(config, family.names));
  AddFairseqLayers(family);
  return family;
}

}  // namespace attend
