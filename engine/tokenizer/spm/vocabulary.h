#ifndef ATTEND_ENGINE_TOKENIZER_SPM_VOCABULARY_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_VOCABULARY_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// Tokens and their ids, which are 0, 1, 2, ... without a gap. Any thread may
// call the const functions.
class Vocabulary {
 public:
  // Reads a JSON object {token: id}. INVALID_ARGUMENT names the file and the
  // token: the id is not a number, is negative or not below the number of
  // tokens, or an id or a token occurs twice.
  static absl::StatusOr<Vocabulary> Load(const std::string& path);

  // Reads a file with a token for each id from 0 on: a JSON list of strings,
  // or, if the name does not end in ".json", a line for each. A token that is
  // there twice has the first of its ids. INVALID_ARGUMENT names the file and
  // the id whose token is no string.
  static absl::StatusOr<Vocabulary> LoadList(const std::string& path);

  // Gives `token` the next id. INVALID_ARGUMENT if the token has an id already.
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
