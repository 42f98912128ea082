#include "engine/tokenizer/spm/spm_rules.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using Before = SpmRules::Before;
using After = SpmRules::After;
using Normalizer = SpmRules::Normalizer;

constexpr SpmRules kRules[] = {
    {.tokenizer_class = "T5Tokenizer",
     .after = After::kExtraIds,
     .normalizer = Normalizer::kRules,
     .splits_at_spaces = true,
     .single = "A/",
     .pair = "A/B/"},
    {.tokenizer_class = "XLMRobertaTokenizer",
     .replaced = 3,
     .before = Before::kFairseq,
     .after = After::kLanguagesAndMask,
     .normalizer = Normalizer::kRules,
     .splits_at_spaces = true,
     .single = "^A/",
     .pair = "^A//B/"},
    // The class does not use the model's table, though the training did.
    {.tokenizer_class = "MBartTokenizer",
     .replaced = 3,
     .before = Before::kFairseq,
     .after = After::kLanguagesAndMask,
     .splits_at_spaces = true,
     .mask_strips = true,
     .single = "A",
     .pair = "AB"},
    {.tokenizer_class = "MBart50Tokenizer",
     .replaced = 3,
     .before = Before::kFairseq,
     .after = After::kLanguagesAndMask,
     .normalizer = Normalizer::kRulesAndSpaces,
     .mask_strips = true,
     .single = "A",
     .pair = "AB"},
    {.tokenizer_class = "PegasusTokenizer",
     .replaced = 2,
     .before = Before::kPegasus,
     .normalizer = Normalizer::kRulesAndSpaces,
     .finds_symbols = false,
     .single = "A/",
     .pair = "AB/"},
};

}  // namespace

absl::StatusOr<SpmRules> SpmRulesOf(const std::string& path,
                                    absl::string_view tokenizer_class) {
  std::string known;
  for (const SpmRules& rules : kRules) {
    if (rules.tokenizer_class == tokenizer_class) return rules;
    absl::StrAppend(&known, known.empty() ? "" : ", ", rules.tokenizer_class);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      path, " of tokenizer_class \"", tokenizer_class,
      "\" needs a tokenizer.json beside it; without one can be read: ", known));
}

}  // namespace attend
