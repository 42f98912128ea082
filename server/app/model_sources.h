#ifndef ATTEND_SERVER_APP_MODEL_SOURCES_H_
#define ATTEND_SERVER_APP_MODEL_SOURCES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// The models to serve, as the options name them.
struct ModelOptions {
  // Each entry is a directory or NAME=DIRECTORY. An entry that begins with '/'
  // or '.' is a directory, also if there is a '=' in it.
  std::vector<std::string> models = {};
  // The name of the model, if `models` has one entry and that has no name.
  // Empty: the name of its directory.
  std::string model_name = "";
  // A directory of models: each directory in it that has a config.json is a
  // model, whose name is the directory's. Hidden directories are left out.
  std::string models_dir = "";
  // The name of the model for requests that name none. Empty: the first of
  // `models`, else the first of models_dir.
  std::string default_model = "";
};

// A model to load.
struct ModelSource {
  std::string name;
  std::string directory;
};

// All models to serve: the default, then those of `models` in their order, then
// those of models_dir sorted by name. If both options are empty, models/en-de.
// INVALID_ARGUMENT names the option and its value. Also if two models have the
// same name, or models_dir has no model.
absl::StatusOr<std::vector<ModelSource>> FindModels(
    const ModelOptions& options);

// A directory from the root of the file system on, without a slash at its end:
// so errors about files in it name them.
std::string AbsoluteDirectory(const std::string& directory);

// An error of loading from an AbsoluteDirectory() as clients may see it: they
// learn the files' names, and not where these are.
absl::Status WithoutDirectory(const absl::Status& status,
                              const std::string& directory);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_MODEL_SOURCES_H_
