#ifndef ATTEND_ENGINE_TOKENIZER_FILES_MERGE_LIST_H_
#define ATTEND_ENGINE_TOKENIZER_FILES_MERGE_LIST_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"

namespace attend {

// Reads the vocab.json and the merges.txt of GPT-2. Returns a BPE model of a
// tokenizer.json. INVALID_ARGUMENT or NOT_FOUND names the file, and the token
// or the line: an id is no integer of [0, 2^24) or belongs to two tokens; a
// line is no merge of two tokens; the vocabulary lacks a token of a merge.
absl::StatusOr<nlohmann::json> LoadMergeList(const std::string& vocab_path,
                                             const std::string& merges_path);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_FILES_MERGE_LIST_H_
