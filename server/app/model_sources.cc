#include "server/app/model_sources.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/checkpoint/gguf/gguf_part_name.h"
#include "engine/tensor/status_macros.h"
#include "server/app/model_versions.h"
#include "server/hub/hub_reference.h"
#include "server/tenants/version_name.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr char kBundledModel[] = "models/en-de";
constexpr size_t kMaxNameBytes = 128;

constexpr char kGguf[] = ".gguf";

// The name of a model's directory, or of its GGUF file.
std::string ModelName(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  if (const auto part = ParseGgufPartName(normal.string())) {
    return fs::path(part->model).filename().string();
  }
  if (normal.extension() == kGguf) return normal.stem().string();
  return (normal.has_filename() ? normal : normal.parent_path())
      .filename()
      .string();
}

// The length of the name in NAME=PATH; npos: the text is a path.
size_t NameLength(const std::string& text) {
  if (text[0] == '/' || text[0] == '.') return std::string::npos;
  return text.find('=');
}

absl::StatusOr<ModelSource> ParseModel(const std::string& text) {
  const size_t name = NameLength(text);
  ModelSource source;
  if (name == std::string::npos) {
    source = {ModelName(text), text};
  } else {
    source = {text.substr(0, name), text.substr(name + 1)};
  }
  if (source.directory.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("model is '", absl::CHexEscape(text),
                     "', must be a directory or a GGUF file"));
  }
  return source;
}

absl::StatusOr<ModelSource> ParseHubModel(const std::string& text) {
  const size_t equals = text.find('=');
  const bool named = equals != std::string::npos;
  ModelSource source;
  source.hub = text.substr(named ? equals + 1 : 0);
  ASSIGN_OR_RETURN(const HubReference model, ParseHubReference(source.hub));
  source.name =
      named ? text.substr(0, equals)
            : ModelName(model.file.empty() ? model.repository : model.file);
  return source;
}

// Returns true for the file of a GGUF model, or the first of several.
bool IsGgufModel(const fs::path& path) {
  std::error_code ignored;
  if (path.extension() != kGguf || !fs::is_regular_file(path, ignored)) {
    return false;
  }
  const auto part = ParseGgufPartName(path.string());
  return !part || part->number == 1;
}

absl::StatusOr<std::vector<ModelSource>> ListDirectory(
    const std::string& directory) {
  std::error_code error;
  std::vector<ModelSource> sources = ListModels(directory, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("models_dir is '", absl::CHexEscape(directory),
                     "', which cannot be read: ", error.message()));
  }
  if (sources.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "models_dir is '", absl::CHexEscape(directory),
        "', in which no directory has a config.json or versions (1, 2, ",
        "...), and which has no GGUF file"));
  }
  std::sort(sources.begin(), sources.end(),
            [](const ModelSource& a, const ModelSource& b) {
              return a.name < b.name;
            });
  // One that is badly named is reported by the loader, and stops no other.
  const absl::Status named = CheckModelName(sources.front().name);
  std::erase_if(sources, [](const ModelSource& source) {
    return !CheckModelName(source.name).ok();
  });
  if (sources.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "models_dir is '", absl::CHexEscape(directory), "': ", named.message(),
        "; rename the model's directory or file"));
  }
  return sources;
}

absl::StatusOr<std::vector<ModelSource>> ParseModels(
    const ModelOptions& options) {
  std::vector<ModelSource> sources;
  for (const std::string& text : options.models) {
    ASSIGN_OR_RETURN(ModelSource source, ParseModel(text));
    sources.push_back(std::move(source));
  }
  if (options.model_name.empty()) return sources;
  if (sources.size() != 1 ||
      options.models.front() != sources.front().directory) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model_name is '", absl::CHexEscape(options.model_name),
        "', which is for one model without a name; name several by --model ",
        "NAME=DIRECTORY"));
  }
  sources.front().name = options.model_name;
  return sources;
}

std::string Names(const std::vector<ModelSource>& sources) {
  return absl::StrJoin(sources, ", ",
                       [](std::string* out, const ModelSource& source) {
                         absl::StrAppend(out, source.name);
                       });
}

// Gives a path to one of the models, as its `field`. `text`, of the option
// `option`, is NAME=PATH, or PATH if there is one model.
absl::Status AddPath(absl::string_view option, const std::string& text,
                     std::string ModelSource::*field,
                     std::vector<ModelSource>& sources) {
  const auto error = [&](auto... parts) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, " is '", absl::CHexEscape(text), "', ", parts...));
  };
  const size_t length = NameLength(text);
  const bool named = length != std::string::npos;
  const std::string path = text.substr(named ? length + 1 : 0);
  if (path.empty()) return error("must be a path or NAME=PATH");
  if (!named && sources.size() > 1) {
    return error("which names none of several models: --", option,
                 " NAME=PATH, where NAME is one of ", Names(sources));
  }
  const std::string name =
      named ? text.substr(0, length) : sources.front().name;
  const auto found =
      std::find_if(sources.begin(), sources.end(),
                   [&](const ModelSource& s) { return s.name == name; });
  if (found == sources.end()) {
    return error("must be for one of the models ", Names(sources));
  }
  std::string& of_model = (*found).*field;
  if (!of_model.empty()) {
    return error("but the ", option, " of ", name, " is ", of_model,
                 " already; a model has one");
  }
  of_model = path;
  return absl::OkStatus();
}

// Where a model comes from.
const std::string& Origin(const ModelSource& source) {
  return source.hub.empty() ? source.directory : source.hub;
}

absl::Status CheckNames(const std::vector<ModelSource>& sources) {
  for (size_t i = 0; i < sources.size(); ++i) {
    const absl::Status named = CheckModelName(sources[i].name);
    if (!named.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          named.message(), "; give another one: --model NAME=DIRECTORY"));
    }
    for (size_t other = 0; other < i; ++other) {
      if (sources[i].name != sources[other].name) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "two models have the name '", sources[i].name,
          "': ", Origin(sources[other]), " and ", Origin(sources[i])));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckModelName(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isgraph(c) && c != '=' && c != ',' && c != '"' &&
           c != '\'' && c != '\\';
  });
  if (plain && !name.empty() && name.size() <= kMaxNameBytes &&
      !ParseVersionName(name)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("model name is '", absl::CHexEscape(name.substr(0, 200)),
                   "', must be 1 to ", kMaxNameBytes,
                   " letters, digits or signs like '-', '_', '.', '/', and ",
                   "not end as 'm@2' does, which is version 2 of 'm'"));
}

std::vector<ModelSource> ListModels(const std::string& models_dir,
                                    std::error_code& error) {
  std::vector<ModelSource> sources;
  fs::directory_iterator entries(models_dir, error);
  for (; !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    const fs::path& path = entries->path();
    std::error_code ignored;
    const std::string name = path.filename().string();
    if (name[0] == '.') continue;
    // In directories of sentence-transformers config.json may be in a folder.
    if (IsGgufModel(path) || fs::exists(path / "config.json", ignored) ||
        fs::exists(path / "modules.json", ignored)) {
      sources.push_back({.name = ModelName(path.string()),
                         .directory = path.string(),
                         .listed = true});
    } else if (const auto version = HighestVersion(path.string())) {
      sources.push_back({.name = name,
                         .directory = path / absl::StrCat(*version),
                         .version = *version,
                         .versions = path.string(),
                         .listed = true});
    }
  }
  return sources;
}

absl::StatusOr<std::vector<ModelSource>> FindModels(
    const ModelOptions& options) {
  ModelOptions wanted = options;
  if (wanted.models.empty() && wanted.hub.empty() &&
      wanted.models_dir.empty()) {
    wanted.models = {kBundledModel};
  }
  ASSIGN_OR_RETURN(std::vector<ModelSource> sources, ParseModels(wanted));
  for (const std::string& text : wanted.hub) {
    ASSIGN_OR_RETURN(ModelSource source, ParseHubModel(text));
    sources.push_back(std::move(source));
  }
  if (!wanted.models_dir.empty()) {
    ASSIGN_OR_RETURN(std::vector<ModelSource> more,
                     ListDirectory(wanted.models_dir));
    std::move(more.begin(), more.end(), std::back_inserter(sources));
  }
  RETURN_IF_ERROR(CheckNames(sources));
  for (const std::string& draft : wanted.drafts) {
    RETURN_IF_ERROR(AddPath("draft", draft, &ModelSource::draft, sources));
  }
  for (const std::string& shortlist : wanted.shortlists) {
    RETURN_IF_ERROR(
        AddPath("shortlist", shortlist, &ModelSource::shortlist, sources));
  }
  for (const std::string& adapter : wanted.adapters) {
    RETURN_IF_ERROR(
        AddPath("adapter", adapter, &ModelSource::adapter, sources));
  }
  if (wanted.default_model.empty()) return sources;
  const auto found = std::find_if(sources.begin(), sources.end(),
                                  [&](const ModelSource& source) {
                                    return source.name == wanted.default_model;
                                  });
  if (found == sources.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "default_model is '", absl::CHexEscape(wanted.default_model),
        "', must be one of ", Names(sources)));
  }
  std::rotate(sources.begin(), found, found + 1);
  return sources;
}

}  // namespace attend
