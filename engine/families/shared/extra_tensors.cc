#include "engine/families/shared/extra_tensors.h"

#include <initializer_list>

namespace attend {

void AddExtraTensors(const TransformerSpec& spec, NameTable& names) {
  const auto add = [&](std::initializer_list<const char*> patterns) {
    names.skipped.insert(names.skipped.end(), patterns.begin(), patterns.end());
  };
  add({"*.inv_freq", "*position_ids", "*.masked_bias", "v_head.*",
       "cls.seq_relationship.*", "qa_outputs.*",
       "discriminator_predictions.*"});
  const bool masked_lm = spec.head && spec.head->kind == HeadKind::kMaskedLm;
  const bool labels = spec.head && !masked_lm;
  if (!labels) {
    add({"classifier.*", "score.*", "pre_classifier.*", "classification_head.*",
         "*pooler.dense.weight", "*pooler.dense.bias"});
  }
  if (masked_lm || spec.decoder) return;
  add({"cls.predictions.*", "lm_head.*", "decoder.*", "vocab_transform.*",
       "vocab_layer_norm.*", "vocab_projector.*", "generator_predictions.*",
       "generator_lm_head.*", "predictions.*"});
}

}  // namespace attend
