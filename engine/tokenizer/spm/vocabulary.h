#ifndef ATTEND_ENGINE_TOKENIZER_SPM_VOCABULARY_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_VOCABULARY_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// Tokens and their ids, which are 0, 1, 2, ... without a hole. Any thread may
// use a const one.
class Vocabulary {
 public:
  // Reads a JSON object of ids. INVALID_ARGUMENT names the file and the token:
  // not a number, negative, beyond the number of tokens, or the id or the token
  // twice.
  static absl::StatusOr<Vocabulary> Load(const std::string& path);

  // Gives `token` the next id. INVALID_ARGUMENT if it has one.
  absl::Status Add(const std::string& token);

  int size() const { return static_cast<int>(tokens_.size()); }
  // -1 if there is no such token.
  int Find(absl::string_view token) const;
  // `id` in [0, size()).
  const std::string& Token(int id) const { return tokens_[id]; }
  const std::vector<std::string>& tokens() const { return tokens_; }  // by id

 private:
  std::vector<std::string> tokens_;
  absl::flat_hash_map<std::string, int> ids_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_VOCABULARY_H_
