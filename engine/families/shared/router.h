#ifndef ATTEND_ENGINE_FAMILIES_SHARED_ROUTER_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_ROUTER_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/json/json_file.h"

namespace attend {

// The configuration of a Router (once Asym) of sentence-transformers, which
// chooses modules by the task of a text.
class Router {
 public:
  // Reads router_config.json in `directory`, or config.json, which Asym wrote.
  static absl::StatusOr<Router> Load(const std::string& directory);

  // The name of the route that a text of this task takes, "query" or
  // "document"; "": nothing is said of the text. nullopt: there is none.
  std::optional<std::string> RouteOf(const std::string& task) const;
  // The ids of a route's modules, which are the names of their folders.
  const std::vector<std::string>& Modules(const std::string& route) const {
    return routes_.at(route);
  }
  // The classes of the modules by their ids.
  const JsonFile& types() const { return types_; }

 private:
  Router(std::map<std::string, std::vector<std::string>> routes, JsonFile types)
      : routes_(std::move(routes)), types_(std::move(types)) {}
  absl::Status ReadParameters(const JsonFile& parameters);

  const std::map<std::string, std::vector<std::string>> routes_;
  const JsonFile types_;
  std::string default_route_ = {};  // "": there is none
  // Routes by a task and a modality, as Python writes such a pair.
  std::map<std::string, std::string> mappings_ = {};
};

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_ROUTER_H_
