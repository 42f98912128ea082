#include "engine/tokenizer/text/object_file.h"

#include "engine/json/json_parse.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {

using Json = nlohmann::json;

absl::StatusOr<ObjectFile> ObjectFile::Load(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path);
  if (absl::IsNotFound(text.status())) return ObjectFile{"{}", Json::object()};
  RETURN_IF_ERROR(text.status());
  ASSIGN_OR_RETURN(Json top, ParseJsonObject(path, *text));
  return ObjectFile{*std::move(text), std::move(top)};
}

std::vector<std::pair<std::string, Json>> ObjectFile::Members(
    absl::string_view inside) const {
  const Json& object = inside.empty() ? top : top.at(std::string(inside));
  const int level = inside.empty() ? 1 : 2;
  std::vector<std::pair<std::string, Json>> members;
  std::string last;  // key at the top
  // Returns false for a value that is not to be built once more.
  const auto see = [&](int depth, Json::parse_event_t event, Json& key) {
    if (event != Json::parse_event_t::key) return true;
    const std::string& name = key.get_ref<const std::string&>();
    if (depth == 1) last = name;
    const bool within = inside.empty() || last == inside;
    if (within && depth == level) members.emplace_back(name, object.at(name));
    return within && depth < level;
  };
  // The text was parsed before, so that there is no error.
  const Json ignored = Json::parse(text, see, /*allow_exceptions=*/false);
  return members;
}

}  // namespace attend
