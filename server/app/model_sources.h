#ifndef ATTEND_SERVER_APP_MODEL_SOURCES_H_
#define ATTEND_SERVER_APP_MODEL_SOURCES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// What to serve, as it is written on a command line.
struct ModelOptions {
  // Each a directory, or NAME=DIRECTORY. Without a '=', or with a '/' or '.' at
  // its front, all of it is the directory.
  std::vector<std::string> models = {};
  // Of the only one of `models`, if that has none. Empty: the directory's own.
  std::string model_name = "";
  // Each of its directories that has a config.json is a model of that name.
  // Hidden ones are left out.
  std::string models_dir = "";
  // Empty: the first of `models`, else the first of models_dir.
  std::string default_model = "";
};

// A model to load.
struct ModelSource {
  std::string name;
  std::string directory;
};

// All models to serve, the default first, then in the order given, those of
// models_dir by name. With neither `models` nor models_dir: models/en-de.
// INVALID_ARGUMENT names the option; also if two have one name, or there is
// none.
absl::StatusOr<std::vector<ModelSource>> FindModels(
    const ModelOptions& options);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_MODEL_SOURCES_H_
