#ifndef ATTEND_ENGINE_FAMILIES_SHARED_LOGIT_SCORE_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_LOGIT_SCORE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/families/shared/family.h"
#include "engine/families/shared/module_list.h"

namespace attend {

// If the modules of a directory of sentence-transformers are those of a
// reranker that generates (a Transformer and a LogitScore), makes one of the
// family: the score of a pair is the logit of one token after it ("yes"), less
// that of another ("no"). Returns false, and changes nothing, if they are not.
absl::StatusOr<bool> ReadLogitScore(const std::string& directory,
                                    const std::vector<SentenceModule>& modules,
                                    Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_LOGIT_SCORE_H_
