#include "engine/json/number_members.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::Status CheckNumber(const std::string& path, const std::string& key,
                         const nlohmann::json& value) {
  if (value.is_number() &&
      std::abs(value.get<double>()) <= std::numeric_limits<float>::max()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(MemberText(path, key), " is ",
                                                 JsonText(value),
                                                 ", expected a number in f32"));
}

}  // namespace

std::string MemberText(const std::string& path, const std::string& key) {
  return absl::StrCat(path, ": ", JsonText(ShortText(key)));
}

absl::Status ReadNumberMembers(
    const std::string& path, size_t most,
    absl::FunctionRef<absl::Status(const std::string& key, float value)> use) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::unordered_set<std::string> keys;
  absl::Status status;  // the first error
  RETURN_IF_ERROR(ParseMembers(
      path, text, [&](const std::string& key, const nlohmann::json& value) {
        if (!status.ok()) return true;
        if (!keys.insert(key).second) return false;
        if (keys.size() > most) {
          status = absl::InvalidArgumentError(
              absl::StrCat(path, ": has more than ", most, " members"));
          return true;
        }
        status = CheckNumber(path, key, value);
        if (status.ok()) status = use(key, value.get<float>());
        return true;
      }));
  return status;
}

}  // namespace attend
