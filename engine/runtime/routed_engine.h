#ifndef ATTEND_ENGINE_RUNTIME_ROUTED_ENGINE_H_
#define ATTEND_ENGINE_RUNTIME_ROUTED_ENGINE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/api/engine.h"

namespace attend {

// An Engine of a model whose texts take several routes (Router of
// sentence-transformers), which are computed by several engines: a step has one
// step of each. Requests that are not embedded are those of the first engine.
class RoutedEngine final : public Engine {
 public:
  // Each engine has one or more routes, which are counted through all engines.
  explicit RoutedEngine(std::vector<std::unique_ptr<Engine>> engines);

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<EngineContext> NewContext() const override;
  absl::StatusOr<std::unique_ptr<Sequence>> NewSequence(
      EngineRequest request) const override;

 private:
  struct Route {
    int engine;
    int route;  // of that engine
  };

  const std::vector<std::unique_ptr<Engine>> engines_;
  std::vector<Route> routes_;
  ModelInfo info_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_ROUTED_ENGINE_H_
