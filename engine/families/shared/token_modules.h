#ifndef ATTEND_ENGINE_FAMILIES_SHARED_TOKEN_MODULES_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_TOKEN_MODULES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/shared/family.h"
#include "engine/json/json_file.h"

namespace attend {

// Models that compare texts token by token (Khattab & Zaharia 2020), as
// MultiVectorEncoder of sentence-transformers and PyLate save them.

// The characters of ASCII that are punctuation, a word each.
std::vector<std::string> Punctuation();

// Returns true if config_sentence_transformers.json says that the model is one
// of them.
absl::StatusOr<bool> ComparesTokens(const std::string& directory);

// Reads the modules after the first: Dense and Normalize of tokens' vectors,
// and MultiVectorMask. Modules of other kinds are refused.
absl::Status ReadTokenModules(const std::string& directory,
                              const std::vector<JsonFile>& modules,
                              Family& family);

// Reads how queries and documents are cut, filled up and masked, from
// config_sentence_transformers.json (PyLate) and sentence_bert_config.json in
// `transformer` (sentence-transformers).
absl::Status ReadTokenVectors(const std::string& directory,
                              const std::string& transformer, Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_TOKEN_MODULES_H_
