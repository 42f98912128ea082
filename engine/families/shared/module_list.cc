#include "engine/families/shared/module_list.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/families/shared/router.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using Modules = std::vector<SentenceModule>;

// The class of a module without its package, which has changed:
// "sentence_transformers.models.Pooling" became
// "sentence_transformers.sentence_transformer.modules.pooling.Pooling".
absl::StatusOr<std::string> ClassOf(const JsonFile& entry,
                                    const std::string& key) {
  ASSIGN_OR_RETURN(const std::string type, entry.String(key));
  if (type == kCustomTransformer) return "Transformer";
  // PyLate's classes have the names of those that they are made of.
  if (!absl::StartsWith(type, "sentence_transformers.") &&
      !absl::StartsWith(type, "pylate.models.")) {
    return entry.Unexpected(key, "a class of sentence_transformers");
  }
  return type.substr(type.rfind('.') + 1);
}

// A folder in another one; "" stands for the model's own.
std::string Join(const std::string& folder, const std::string& path) {
  if (path.empty() || path == ".") return folder;
  return folder.empty() ? path : absl::StrCat(folder, "/", path);
}

absl::StatusOr<SentenceModule> ReadModule(const JsonFile& entry) {
  ASSIGN_OR_RETURN(std::string type, ClassOf(entry, "type"));
  ASSIGN_OR_RETURN(const std::string path, entry.StringOr("path", ""));
  if (!IsPathInside(path) || absl::StrContains(path, '/')) {
    return entry.Unexpected("path", "the name of a folder");
  }
  return SentenceModule{std::move(type), Join("", path), entry, "type"};
}

// The modules of a route of a Router that is in `folder`.
absl::StatusOr<Modules> ReadRoute(const Router& router,
                                  const std::string& route,
                                  const std::string& folder) {
  Modules modules;
  for (const std::string& id : router.Modules(route)) {
    if (!IsPathInside(id)) {
      return router.types().Unexpected(id, "the name of a folder as its key");
    }
    ASSIGN_OR_RETURN(std::string type, ClassOf(router.types(), id));
    modules.push_back({std::move(type), Join(folder, id), router.types(), id});
  }
  return modules;
}

bool IsRouter(const SentenceModule& module) {
  return module.type == "Router" || module.type == "Asym";
}

absl::StatusOr<FirstModule> FirstOf(const std::string& directory,
                                    const Modules& modules) {
  FirstModule first = {.directory = directory};
  if (modules.empty()) return first;
  const SentenceModule& module = modules.front();
  if (module.type == "StaticEmbedding") {
    first.kind = FirstModule::Kind::kStatic;
  } else if (module.type == "SparseStaticEmbedding") {
    first.kind = FirstModule::Kind::kSparseStatic;
  } else if (module.type != "Transformer" && module.type != "MLMTransformer") {
    return module.Unexpected(
        "a Transformer, MLMTransformer, StaticEmbedding or "
        "SparseStaticEmbedding as the first module");
  }
  first.folder = module.folder;
  first.directory = Join(directory, module.folder);
  return first;
}

// Adds routes to a list, of which routes of the same first module are a group.
class ListBuilder {
 public:
  explicit ListBuilder(std::string directory)
      : directory_(std::move(directory)) {}

  // Returns the number by which IndexOf() knows the route.
  absl::StatusOr<int> Add(Modules modules, bool routed) {
    ASSIGN_OR_RETURN(FirstModule first, FirstOf(directory_, modules));
    auto group = std::find_if(list_.groups.begin(), list_.groups.end(),
                              [&](const RouteGroup& other) {
                                return other.first.folder == first.folder &&
                                       other.first.kind == first.kind;
                              });
    if (group == list_.groups.end()) {
      list_.groups.push_back({.directory = directory_,
                              .first = std::move(first),
                              .listed = true,
                              .routed = routed,
                              .routes = {}});
      group = std::prev(list_.groups.end());
    }
    group->routes.push_back(std::move(modules));
    places_.emplace_back(group - list_.groups.begin(),
                         group->routes.size() - 1);
    return static_cast<int>(places_.size()) - 1;
  }

  // The index of a route, counted through all groups; -1 of -1.
  int IndexOf(int number) const {
    if (number < 0) return -1;
    const auto [group, place] = places_[number];
    size_t index = place;
    for (size_t i = 0; i < group; ++i) index += list_.groups[i].routes.size();
    return static_cast<int>(index);
  }
  ModuleList Take() { return std::move(list_); }

 private:
  const std::string directory_;
  ModuleList list_;
  std::vector<std::pair<size_t, size_t>> places_;  // group and route
};

// The modules around a Router, with those of each route in its place.
absl::StatusOr<ModuleList> ReadRoutes(const std::string& directory,
                                      const Modules& modules, size_t place) {
  const SentenceModule& at = modules[place];
  ASSIGN_OR_RETURN(const Router router,
                   Router::Load(Join(directory, at.folder)));
  ListBuilder builder(directory);
  std::map<std::string, int> numbers;
  // The route of this task, and its number.
  const auto add = [&](const std::string& task) -> absl::StatusOr<int> {
    const std::optional<std::string> name = router.RouteOf(task);
    if (!name) return -1;
    const auto [known, added] = numbers.try_emplace(*name, 0);
    if (!added) return known->second;
    Modules all(modules.begin(), modules.begin() + place);
    ASSIGN_OR_RETURN(const Modules own, ReadRoute(router, *name, at.folder));
    all.insert(all.end(), own.begin(), own.end());
    all.insert(all.end(), modules.begin() + place + 1, modules.end());
    ASSIGN_OR_RETURN(known->second, builder.Add(std::move(all), true));
    return known->second;
  };
  RoleRoutes roles;
  ASSIGN_OR_RETURN(roles.text, add(""));
  ASSIGN_OR_RETURN(roles.query, add("query"));
  ASSIGN_OR_RETURN(roles.document, add("document"));
  if (numbers.empty()) {
    return at.Unexpected(
        "a Router with a default_route, or a route for "
        "\"query\" or \"document\"");
  }
  for (int* role : {&roles.text, &roles.query, &roles.document}) {
    *role = builder.IndexOf(*role);
  }
  ModuleList list = builder.Take();
  list.roles = roles;
  return list;
}

}  // namespace

bool IsPathInside(const std::string& path) {
  const std::vector<std::string> names = absl::StrSplit(path, '/');
  return path.find_first_of(std::string("\\\0", 2)) == path.npos &&
         std::all_of(names.begin(), names.end(), [&](const auto& name) {
           return name != ".." && (!name.empty() || path.empty());
         });
}

absl::StatusOr<ModuleList> ReadModuleList(const std::string& directory) {
  const absl::StatusOr<std::vector<JsonFile>> entries =
      JsonFile::LoadList(directory + "/modules.json");
  if (absl::IsNotFound(entries.status())) {
    ModuleList list;
    list.groups.push_back(
        {.directory = directory, .first = {.directory = directory}});
    return list;
  }
  RETURN_IF_ERROR(entries.status());
  Modules modules;
  for (const JsonFile& entry : *entries) {
    ASSIGN_OR_RETURN(SentenceModule module, ReadModule(entry));
    modules.push_back(std::move(module));
  }
  const auto router = std::find_if(modules.begin(), modules.end(), IsRouter);
  if (router != modules.end()) {
    return ReadRoutes(directory, modules, router - modules.begin());
  }
  ListBuilder builder(directory);
  RETURN_IF_ERROR(builder.Add(std::move(modules), false).status());
  return builder.Take();
}

}  // namespace attend
