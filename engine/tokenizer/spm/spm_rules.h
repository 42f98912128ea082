#ifndef ATTEND_ENGINE_TOKENIZER_SPM_SPM_RULES_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_SPM_RULES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// How a class of transformers 5.23 reads a SentencePiece model: a row of a
// table.
struct SpmRules {
  // Which of the class's own tokens stand before the model's pieces.
  enum class Before { kNone, kFairseq, kPegasus };
  // And after them.
  enum class After { kNone, kExtraIds, kLanguagesAndMask };
  // What text goes through before it is cut.
  enum class Normalizer {
    kNone,
    kRules,           // the model's table
    kRulesAndSpaces,  // the same; then runs of spaces become one
  };

  absl::string_view tokenizer_class;
  int replaced = 0;  // pieces at the start of the model, left out for `before`
  Before before = Before::kNone;
  After after = After::kNone;
  Normalizer normalizer = Normalizer::kNone;
  bool splits_at_spaces = false;  // at white space of any kind
  bool finds_symbols = true;      // the model's own symbols are tokens in text
  bool mask_strips = false;       // <mask> takes the spaces before it
  // Special tokens around a text A and a pair A, B: '^' is the one that begins
  // a sequence, '/' ends it. Those of languages are not here: see Languages.
  absl::string_view single, pair;
};

// INVALID_ARGUMENT names `path`, the model's file, and lists the classes that
// there are.
absl::StatusOr<SpmRules> SpmRulesOf(const std::string& path,
                                    absl::string_view tokenizer_class);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_SPM_RULES_H_
