#include "engine/checkpoint/json_parse.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr int kMaxDepth = 32;
constexpr size_t kMaxShown = 80;

// Refuses what the parser itself lets through: deep nesting, and keys that
// occur twice, of which readers of the file would believe different ones.
class Inspector {
 public:
  bool operator()(int depth, nlohmann::json::parse_event_t event,
                  nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= kMaxDepth) {
        throw std::runtime_error(
            absl::StrCat("nested deeper than ", kMaxDepth));
      }
      keys_.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      keys_.pop_back();
    } else if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        throw std::runtime_error(absl::StrCat("key \"", key, "\" twice"));
      }
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;  // of each open value
};

}  // namespace

absl::StatusOr<nlohmann::json> ParseJson(absl::string_view name,
                                         absl::string_view text) {
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": ", text.size(), " bytes of json, limit is ", kMaxBytes));
  }
  try {
    Inspector inspector;
    return nlohmann::json::parse(
        text.begin(), text.end(),
        [&](int depth, nlohmann::json::parse_event_t event,
            nlohmann::json& parsed) {
          return inspector(depth, event, parsed);
        });
  } catch (const std::exception& e) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": not valid json: ", e.what()));
  }
}

absl::StatusOr<nlohmann::json> ParseJsonObject(absl::string_view name,
                                               absl::string_view text) {
  ASSIGN_OR_RETURN(nlohmann::json top, ParseJson(name, text));
  if (top.is_object()) return top;
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": is ", JsonText(top), ", expected a json object"));
}

std::string JsonText(const nlohmann::json& value) {
  std::string text =
      value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxShown) {
    text.resize(kMaxShown);  // ASCII only: never half a character
    text += "...";
  }
  return text;
}

}  // namespace attend
