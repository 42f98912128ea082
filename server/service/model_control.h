#ifndef ATTEND_SERVER_SERVICE_MODEL_CONTROL_H_
#define ATTEND_SERVER_SERVICE_MODEL_CONTROL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/service/model_alias.h"

namespace attend {

// Who may change what is served while the server runs.
enum class ModelControlMode {
  kNone,      // nobody: models are loaded when the server starts
  kExplicit,  // calls load and unload models
  kPoll       // the server looks into its directory of models
};

// What a call asks for.
struct ModelChange {
  enum class Kind { kLoad, kUnload, kSetAlias };

  Kind kind = Kind::kLoad;
  std::string name;
  int64_t version = 0;                    // to load; 0: the highest there is
  std::vector<AliasTarget> targets = {};  // of an alias; none: to remove it
};

// Changes what is served, one change after the other, on a thread of its own.
// Thread-safe.
class ModelControl {
 public:
  using Done = std::function<void(const absl::Status&)>;

  virtual ~ModelControl() = default;
  // `done` is called once, on a thread of the server's own, when the change has
  // been made or has failed. Then the ports are told, as after a step. An
  // error: `done` is not called. RESOURCE_EXHAUSTED if too many changes wait.
  virtual absl::Status Submit(ModelChange change, Done done) = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_MODEL_CONTROL_H_
