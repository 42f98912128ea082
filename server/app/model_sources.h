#ifndef ATTEND_SERVER_APP_MODEL_SOURCES_H_
#define ATTEND_SERVER_APP_MODEL_SOURCES_H_

#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// The models to serve, as given by the options.
struct ModelOptions {
  // Each entry is a path or NAME=PATH, of a directory or a GGUF file. An entry
  // that begins with '/' or '.' is a path even if it has a '='.
  std::vector<std::string> models = {};
  // Models of a hub: OWNER/NAME[/FILE.gguf][@REVISION], or NAME= before it.
  std::vector<std::string> hub = {};
  // The name of the model, if `models` has exactly one entry and the entry has
  // no name. Empty: the name of the model's directory, or of its file
  // without ".gguf" (and without "-00001-of-00003").
  std::string model_name = "";
  // A directory of models: each directory in it that has a config.json, and
  // each GGUF file, is a model of its name. So is each directory of versions,
  // whose model is that in the directory with the highest number. Hidden ones
  // are left out, and so are all files but the first of a model in several.
  std::string models_dir = "";
  // The name of the model for requests that name none. Empty: the first of
  // `models`, otherwise of `hub`, otherwise of models_dir.
  std::string default_model = "";
  // Draft models, one for each of some models. Each entry is NAME=PATH with the
  // name of a model, or a path as in `models` if there is one model.
  std::vector<std::string> drafts = {};
  // Files of lexical shortlists: NAME=PATH, or PATH if there is one model. An
  // entry that begins with '/' or '.' is a path.
  std::vector<std::string> shortlists = {};
  // Directories of LoRA adapters, as of shortlists.
  std::vector<std::string> adapters = {};
  // Aliases: NAME=MODEL or NAME=MODEL:WEIGHT; each entry adds a target to the
  // alias of its name.
  std::vector<std::string> aliases = {};
};

// A model to load.
struct ModelSource {
  std::string name;
  // Or a GGUF file. Empty: that of `hub`, which has not been fetched yet.
  std::string directory;
  std::string draft = {};      // the same of its draft model; empty: none
  std::string shortlist = {};  // its file; empty: none
  std::string adapter = {};    // the directory of its adapter; empty: none
  int64_t version = 1;
  std::string versions = {};  // the directory of its versions; empty: none
  bool listed = false;        // it is in models_dir
  // Its name on a hub: OWNER/NAME[/FILE.gguf][@REVISION]; empty: none.
  std::string hub = {};
};

// All models to serve: the default, then those of `models` in their order, then
// those of `hub`, then those of models_dir sorted by name. Without any of them,
// models/en-de.
// INVALID_ARGUMENT names the option and its value. Two models of the same name,
// two draft models of one model, and a models_dir without a model, are errors
// too.
absl::StatusOr<std::vector<ModelSource>> FindModels(
    const ModelOptions& options);

// The models that models_dir has now, in no order. `error`: it cannot be read.
std::vector<ModelSource> ListModels(const std::string& models_dir,
                                    std::error_code& error);

// The name of a model or of an alias goes into log lines, metrics and headers:
// no space, no control character. INVALID_ARGUMENT names it.
absl::Status CheckModelName(const std::string& name);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_MODEL_SOURCES_H_
