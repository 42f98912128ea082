#include "engine/families/shared/extra_tensors.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace attend {
namespace {

// base_model_prefix of the classes in transformers, with a dot.
constexpr absl::string_view kPrefixes[] = {
    "albert.",  "bert.",    "data2vec_text.", "deberta.",  "distilbert.",
    "electra.", "ernie.",   "esm.",           "gpt_neox.", "model.",
    "mpnet.",   "rembert.", "roberta.",       "roformer.", "transformer."};

// Patterns without a prefix, as far as they are not there.
std::vector<std::string> BareNames(const std::vector<std::string>& tensors) {
  std::vector<std::string> bare;
  for (const std::string& tensor : tensors) {
    for (const absl::string_view prefix : kPrefixes) {
      if (!absl::StartsWith(tensor, prefix)) continue;
      std::string rest = tensor.substr(prefix.size());
      if (std::count(tensors.begin(), tensors.end(), rest) == 0) {
        bare.push_back(std::move(rest));
      }
    }
  }
  return bare;
}

}  // namespace

void AddBareNames(NameTable& names) {
  const auto add = [](std::vector<std::string>& tensors) {
    const std::vector<std::string> bare = BareNames(tensors);
    tensors.insert(tensors.end(), bare.begin(), bare.end());
  };
  for (NameRow& row : names.rows) add(row.tensors);
  add(names.unused);
}

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
