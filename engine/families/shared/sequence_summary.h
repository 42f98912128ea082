#ifndef ATTEND_ENGINE_FAMILIES_SHARED_SEQUENCE_SUMMARY_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_SEQUENCE_SUMMARY_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/json/json_file.h"

namespace attend {

// The values of the fields `summary_*` of a config.json that leaves them out.
struct SummaryDefaults {
  absl::string_view type = "last";
  bool projects = false;
  absl::string_view activation = "";  // empty: none
};

// Reads the head of a ...ForMultipleChoice that makes one vector of those of
// the tokens as SequenceSummary of transformers does, and the logit of a choice
// of that. `hidden`: the numbers of a vector.
absl::Status ReadSequenceSummary(const JsonFile& config, int hidden,
                                 const SummaryDefaults& defaults,
                                 UsualHeads& heads);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_SEQUENCE_SUMMARY_H_
