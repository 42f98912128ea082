#include "engine/tokenizer/spm/vocabulary.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/json/json_parse.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::StatusOr<std::vector<std::string>> JsonTokens(const std::string& path,
                                                    absl::string_view text) {
  ASSIGN_OR_RETURN(const nlohmann::json list, ParseJson(path, text));
  if (!list.is_array()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is ", JsonText(list), ", expected a list of tokens"));
  }
  std::vector<std::string> tokens;
  tokens.reserve(list.size());
  for (const nlohmann::json& token : list) {
    if (!token.is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": the token with id ", tokens.size(), " is ",
                       JsonText(token), ", expected a string"));
    }
    tokens.push_back(token.get<std::string>());
  }
  return tokens;
}

// The lines of a text, without their ends. Some tokens are "\r": only where all
// lines have one at their end it belongs to the end.
std::vector<std::string> Lines(absl::string_view text) {
  absl::ConsumeSuffix(&text, "\n");
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const auto ends = [](const std::string& line) {
    return absl::EndsWith(line, "\r");
  };
  if (std::all_of(lines.begin(), lines.end(), ends)) {
    for (std::string& line : lines) line.pop_back();
  }
  return lines;
}

}  // namespace

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

absl::StatusOr<Vocabulary> Vocabulary::LoadList(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Vocabulary vocabulary;
  if (absl::EndsWith(path, ".json")) {
    ASSIGN_OR_RETURN(vocabulary.tokens_, JsonTokens(path, text));
  } else {
    vocabulary.tokens_ = Lines(text);
  }
  vocabulary.ids_.reserve(vocabulary.tokens_.size());
  for (int id = 0; id < vocabulary.size(); ++id) {
    vocabulary.ids_.emplace(vocabulary.tokens_[id], id);
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
