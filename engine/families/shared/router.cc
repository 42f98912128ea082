#include "engine/families/shared/router.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "engine/json/key_order.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr char kStructure[] = "structure";

// Reads the file, and the names of its routes in their order.
absl::StatusOr<JsonFile> LoadRoutes(const std::string& path,
                                    std::vector<std::string>& names) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const JsonFile file, JsonFile::Parse(path, text));
  names = KeysInOrder(text, kStructure);
  if (names.empty()) {
    return file.Unexpected(kStructure, "routes with a list of modules each");
  }
  return file;
}

absl::StatusOr<std::map<std::string, std::vector<std::string>>> ModulesByRoute(
    const JsonFile& file, const std::vector<std::string>& names) {
  std::map<std::string, std::vector<std::string>> routes;
  ASSIGN_OR_RETURN(const JsonFile structure, file.Object(kStructure));
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(routes[name], structure.Strings(name));
    if (routes[name].empty()) {
      return structure.Unexpected(name, "names of modules");
    }
  }
  return routes;
}

// A pair as Python writes it, whatever quotes and spaces there are.
std::string PlainKey(const std::string& pair) {
  return absl::StrReplaceAll(pair, {{" ", ""}, {"\"", "'"}});
}

}  // namespace

absl::StatusOr<Router> Router::Load(const std::string& directory) {
  std::vector<std::string> names;
  absl::StatusOr<JsonFile> file =
      LoadRoutes(directory + "/router_config.json", names);
  if (absl::IsNotFound(file.status())) {
    file = LoadRoutes(directory + "/config.json", names);
  }
  RETURN_IF_ERROR(file.status());
  ASSIGN_OR_RETURN(auto routes, ModulesByRoute(*file, names));
  ASSIGN_OR_RETURN(JsonFile types, file->Object("types"));
  Router router(std::move(routes), std::move(types));
  ASSIGN_OR_RETURN(const JsonFile parameters, file->Object("parameters"));
  RETURN_IF_ERROR(router.ReadParameters(parameters));
  ASSIGN_OR_RETURN(const bool takes_first,
                   parameters.BoolOr("allow_empty_key", true));
  if (takes_first && router.default_route_.empty()) {
    router.default_route_ = names.front();
  }
  return router;
}

absl::Status Router::ReadParameters(const JsonFile& parameters) {
  const std::string routes =
      absl::StrJoin(routes_, ", ", [](std::string* out, const auto& route) {
        absl::StrAppend(out, route.first);
      });
  ASSIGN_OR_RETURN(default_route_, parameters.StringOr("default_route", ""));
  if (!default_route_.empty() && routes_.count(default_route_) == 0) {
    return parameters.Unexpected("default_route", "one of: " + routes);
  }
  if (!parameters.Has("route_mappings")) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto mappings, parameters.StringMap("route_mappings"));
  for (const auto& [pair, route] : mappings) {
    if (routes_.count(route) == 0) {
      return parameters.Unexpected("route_mappings", "routes of: " + routes);
    }
    mappings_[PlainKey(pair)] = route;
  }
  return absl::OkStatus();
}

std::optional<std::string> Router::RouteOf(const std::string& task) const {
  const std::string quoted = task.empty() ? "None" : "'" + task + "'";
  for (const std::string& pair :
       {absl::StrCat("(", quoted, ",'text')"),
        absl::StrCat("(", quoted, ",None)"), std::string("(None,'text')"),
        std::string("(None,None)")}) {
    const auto found = mappings_.find(pair);
    if (found != mappings_.end()) return found->second;
  }
  for (const std::string& name : {task, std::string("text")}) {
    if (routes_.count(name) > 0) return name;
  }
  // A task that no route is for is an error, whatever the default.
  if (!task.empty() || default_route_.empty()) return std::nullopt;
  return default_route_;
}

}  // namespace attend
