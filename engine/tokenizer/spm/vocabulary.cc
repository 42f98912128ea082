#include "engine/tokenizer/spm/vocabulary.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<Vocabulary> Vocabulary::Load(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::flat_hash_map<std::string, int64_t> ids;
  absl::Status wrong;
  RETURN_IF_ERROR(ParseMembers(
      path, text, [&](const std::string& token, const nlohmann::json& value) {
        const int64_t id =
            value.is_number_integer() ? value.get<int64_t>() : -1;
        if (id < 0 && wrong.ok()) {
          wrong = absl::InvalidArgumentError(
              absl::StrCat(path, ": token \"", token, "\" has id ",
                           JsonText(value), ", expected 0 or more"));
        }
        return ids.emplace(token, id).second;
      }));
  RETURN_IF_ERROR(wrong);

  Vocabulary vocabulary;
  const auto size = static_cast<int64_t>(ids.size());
  vocabulary.tokens_.resize(ids.size());
  vocabulary.ids_.reserve(ids.size());
  std::vector<bool> used(ids.size());
  for (const auto& [token, id] : ids) {
    if (id >= size) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": token \"", token, "\" has id ", id, ", expected one in [0, ",
          size, ") for ", size, " tokens without a gap"));
    }
    if (used[id]) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": token \"", token, "\" has id ", id, ", which token \"",
          vocabulary.tokens_[id], "\" has too"));
    }
    used[id] = true;
    vocabulary.tokens_[id] = token;
    vocabulary.ids_[token] = static_cast<int>(id);
  }
  return vocabulary;
}

absl::Status Vocabulary::Add(const std::string& token) {
  if (!ids_.emplace(token, size()).second) {
    return absl::InvalidArgumentError(absl::StrCat(
        "token \"", token, "\" has id ", Find(token), ", expected none"));
  }
  tokens_.push_back(token);
  return absl::OkStatus();
}

int Vocabulary::Find(absl::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? -1 : found->second;
}

}  // namespace attend
