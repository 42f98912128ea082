#ifndef ATTEND_ENGINE_TOKENIZER_SPM_SPM_RULES_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_SPM_RULES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// How a tokenizer class of transformers 5.23 uses a SentencePiece model: a row
// of a table.
struct SpmRules {
  // The class's own tokens before the pieces of the model.
  enum class Before { kNone, kFairseq, kPegasus };
  // The class's own tokens after the pieces of the model.
  enum class After { kNone, kExtraIds, kLanguagesAndMask };
  // How text is normalised before it is segmented.
  enum class Normalizer {
    kNone,
    kRules,           // the model's table
    kRulesAndSpaces,  // the same; then runs of spaces become one
  };

  absl::string_view tokenizer_class;
  int replaced = 0;  // first pieces of the model that `before` replaces
  Before before = Before::kNone;
  After after = After::kNone;
  Normalizer normalizer = Normalizer::kNone;
  bool splits_at_spaces = false;  // at white space of any kind
  bool finds_symbols = true;      // user-defined symbols are tokens in text
  bool mask_strips = false;       // <mask> removes the spaces before it
  // The special tokens around a text A, and around a pair A, B. '^' stands for
  // bos, '/' for eos. For tokens of languages see Languages.
  absl::string_view single, pair;
};

// INVALID_ARGUMENT names `path`, the file of the model, and lists the supported
// classes.
absl::StatusOr<SpmRules> SpmRulesOf(const std::string& path,
                                    absl::string_view tokenizer_class);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_SPM_RULES_H_
