#include "server/app/alias_options.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "server/app/model_versions.h"
#include "server/tenants/version_name.h"

namespace attend {
namespace {

template <class Named>
auto FindNamed(std::vector<Named>& all, const std::string& name) {
  return std::find_if(all.begin(), all.end(),
                      [&](const Named& one) { return one.name == name; });
}

// "m:5". The text after the last colon is a weight if it is a number.
AliasTarget ParseTarget(const std::string& text) {
  const size_t colon = text.rfind(':');
  int weight = 0;
  if (colon == std::string::npos ||
      !absl::SimpleAtoi(text.substr(colon + 1), &weight)) {
    return {.model = text};
  }
  return {.model = text.substr(0, colon), .weight = weight};
}

// Adds what an entry of the option says.
absl::Status AddTarget(const std::string& text,
                       std::vector<ModelAlias>& aliases) {
  const size_t length = text.find('=');
  if (length == std::string::npos) {
    return absl::InvalidArgumentError(
        "must be NAME=MODEL or "
        "NAME=MODEL:WEIGHT");
  }
  const std::string name = text.substr(0, length);
  RETURN_IF_ERROR(CheckModelName(name));
  auto alias = FindNamed(aliases, name);
  if (alias == aliases.end()) {
    alias = aliases.insert(aliases.end(), {.name = name, .targets = {}});
  }
  alias->targets.push_back(ParseTarget(text.substr(length + 1)));
  return alias->CheckTargets();
}

// Makes sure that the target's model is one of `sources`.
absl::Status AddSource(const std::string& models_dir, const std::string& model,
                       std::vector<ModelSource>& sources) {
  if (FindNamed(sources, model) != sources.end()) return absl::OkStatus();
  if (!ParseVersionName(model)) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", absl::CHexEscape(model), "' is none of those ",
                     "that are served"));
  }
  ASSIGN_OR_RETURN(ModelSource source,
                   FindModel(sources, models_dir, model, 0));
  sources.push_back(std::move(source));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ModelAlias>> FindAliases(
    const ModelOptions& options, std::vector<ModelSource>& sources) {
  std::vector<ModelAlias> aliases;
  for (const std::string& text : options.aliases) {
    absl::Status status = AddTarget(text, aliases);
    if (status.ok()) {
      const std::string target = text.substr(text.find('=') + 1);
      status =
          AddSource(options.models_dir, ParseTarget(target).model, sources);
    }
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "alias is '", absl::CHexEscape(text), "': ", status.message()));
    }
  }
  return aliases;
}

}  // namespace attend
