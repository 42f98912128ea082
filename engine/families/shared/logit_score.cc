#include "engine/families/shared/logit_score.h"

#include "absl/strings/str_cat.h"
#include "engine/families/shared/config_fields.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The score reads the vector before the vocabulary projection.
absl::Status CheckProjection(const SentenceModule& module,
                             const TransformerSpec& spec) {
  if (spec.decoder && !spec.encoder && spec.generates &&
      spec.logits_scale == 1 && !spec.logits_projection && !spec.logits_bias &&
      spec.logits_softcap == 0) {
    return absl::OkStatus();
  }
  return module.Unexpected(
      "LogitScore only of a decoder whose logits are a plain product with its "
      "vectors");
}

}  // namespace

absl::StatusOr<bool> ReadLogitScore(const std::string& directory,
                                    const std::vector<SentenceModule>& modules,
                                    Family& family) {
  if (modules.size() != 2 || modules[1].type != "LogitScore") return false;
  TransformerSpec& spec = family.spec;
  RETURN_IF_ERROR(CheckProjection(modules[1], spec));
  ASSIGN_OR_RETURN(const JsonFile config,
                   JsonFile::Load(absl::StrCat(
                       directory, "/", modules[1].folder, "/config.json")));
  ASSIGN_OR_RETURN(const std::string input,
                   config.StringOr("module_input_name", "causal_logits"));
  if (input != "causal_logits") {
    return config.Unexpected("module_input_name", "causal_logits");
  }
  const int most = spec.decoder->embedding.vocab - 1;
  HeadSpec head;
  head.pooling = Pooling::kLast;
  ASSIGN_OR_RETURN(head.yes_id, Number(config, {"true_token_id"}, {0, most}));
  ASSIGN_OR_RETURN(head.no_id,
                   NumberOr(config, "false_token_id", -1, {0, most}));
  spec.head = head;
  spec.generates = false;
  family.labels = {"LABEL_0"};
  family.label_scores = family.pair_scores = LabelScores::kSigmoid;
  family.chat_pairs = true;
  return true;
}

}  // namespace attend
