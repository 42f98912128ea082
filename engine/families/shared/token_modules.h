#ifndef ATTEND_ENGINE_FAMILIES_SHARED_TOKEN_MODULES_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_TOKEN_MODULES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/shared/family.h"
#include "engine/families/shared/module_list.h"
#include "engine/json/json_file.h"

namespace attend {

// Models that compare texts token by token (Khattab & Zaharia 2020), as
// MultiVectorEncoder of sentence-transformers and PyLate save them.

// The characters of ASCII that are punctuation, a word each.
std::vector<std::string> Punctuation();

// In all of them `config` is config_sentence_transformers.json. Returns true if
// it says that the model is one of these.
absl::StatusOr<bool> ComparesTokens(const JsonFile& config);

// Reads the modules after the first: Dense and Normalize of tokens' vectors,
// and MultiVectorMask. Modules of other kinds are refused.
absl::Status ReadTokenModules(const std::string& directory,
                              const std::vector<SentenceModule>& modules,
                              const JsonFile& config, Family& family);

// Reads how queries and documents are cut, filled up and masked, from `config`
// (PyLate) and sentence_bert_config.json in `transformer`
// (sentence-transformers).
absl::Status ReadTokenVectors(const JsonFile& config,
                              const std::string& transformer, Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_TOKEN_MODULES_H_
