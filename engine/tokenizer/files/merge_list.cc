#include "engine/tokenizer/files/merge_list.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "engine/json/json_parse.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/files/text_lines.h"

namespace attend {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxId = (1 << 24) - 1;

absl::StatusOr<Json> LoadIds(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(Json ids, ParseJsonObject(path, text));
  if (ids.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": has no tokens"));
  }
  absl::flat_hash_map<int64_t, absl::string_view> tokens;
  for (const auto& [token, id] : ids.items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > kMaxId) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": token \"", ShortText(token), "\" has id ",
                       JsonText(id), ", limits are 0 and ", kMaxId));
    }
    const auto [found, is_new] = tokens.emplace(id.get<int64_t>(), token);
    if (!is_new) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": token \"", ShortText(token), "\" has id ", JsonText(id),
          ", which token \"", ShortText(found->second), "\" has too"));
    }
  }
  return ids;
}

// The merge of a line.
absl::StatusOr<Json> ReadMerge(const std::string& path, int number,
                               absl::string_view line, const Json& ids) {
  const std::vector<std::string> parts = absl::StrSplit(line, ' ');
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
    return LineError(path, number,
                     absl::StrCat("is \"", ShortText(line),
                                  "\", expected two tokens with a space"));
  }
  for (const std::string& token : {parts[0], parts[1], parts[0] + parts[1]}) {
    if (ids.contains(token)) continue;
    return LineError(
        path, number,
        absl::StrCat("merges \"", ShortText(parts[0]), "\" and \"",
                     ShortText(parts[1]), "\", but \"", ShortText(token),
                     "\" is not in the vocabulary"));
  }
  return Json{parts[0], parts[1]};
}

}  // namespace

absl::StatusOr<Json> LoadMergeList(const std::string& vocab_path,
                                   const std::string& merges_path) {
  ASSIGN_OR_RETURN(Json ids, LoadIds(vocab_path));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(merges_path));
  Json merges = Json::array();
  RETURN_IF_ERROR(ForEachLine(
      merges_path, text,
      [&](int number, absl::string_view line) -> absl::Status {
        if (absl::StartsWith(line, "#version")) return absl::OkStatus();
        ASSIGN_OR_RETURN(Json merge, ReadMerge(merges_path, number, line, ids));
        merges.push_back(std::move(merge));
        return absl::OkStatus();
      }));
  return Json{{"type", "BPE"},
              {"vocab", std::move(ids)},
              {"merges", std::move(merges)}};
}

}  // namespace attend
