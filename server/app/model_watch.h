#ifndef ATTEND_SERVER_APP_MODEL_WATCH_H_
#define ATTEND_SERVER_APP_MODEL_WATCH_H_

#include <cstdint>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "server/app/model_sources.h"
#include "server/service/model_control.h"

namespace attend {

// A model as its directory shows it at one time.
struct ListedModel {
  int64_t version = 1;
  // Names, sizes and times of all its files: another text, other files.
  std::string files;

  bool operator==(const ListedModel&) const = default;
};
using ModelListing = std::map<std::string, ListedModel>;  // by name

// The models that `models_dir` has now, each in its highest version, also if
// CheckModelName() refuses the name. A name that one of --model has `at_start`
// is none of them. `error`: it cannot be read.
ModelListing ListModelFiles(const std::string& models_dir,
                            const std::vector<ModelSource>& at_start,
                            std::error_code& error);

// The changes that make the served models match a directory. A change there is
// applied when two successive scans have found the
// same: a directory that is still being copied is left alone. Each change is
// requested once, regardless of its outcome: a failed load is retried
// when its files change, or after TryAgain().
class ModelWatch {
 public:
  // `now`: the models that are served, or could not be.
  explicit ModelWatch(ModelListing now) : seen_(now), done_(std::move(now)) {}

  std::vector<ModelChange> Look(ModelListing now);
  // The model of that name could not be loaded, but may be at the next look:
  // there may be memory then.
  void TryAgain(const std::string& name);

 private:
  ModelListing seen_;  // in the last look
  ModelListing done_;  // for which all has been asked
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_MODEL_WATCH_H_
