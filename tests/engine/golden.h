#ifndef ATTEND_TESTS_ENGINE_GOLDEN_H_
#define ATTEND_TESTS_ENGINE_GOLDEN_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/compute/compute.h"
#include "engine/engine.h"
#include "engine/model.h"

namespace attend {

// Reads what tests/golden/make_golden.py wrote; its docstring has the form.
nlohmann::json ReadGolden(const std::string& path);

// The directories under tests/golden that hold a checkpoint with expected.json.
std::vector<std::string> GoldenModels();
std::string GoldenDirectory(const std::string& name);

// The source of a case, its masked tokens left out.
SourceTokens SourceOf(const nlohmann::json& golden_case);

// `params` of a case, in transformers' names, over a model's defaults.
GenerationParams ParamsOf(const nlohmann::json& params,
                          const GenerationParams& defaults);

// A model with everything it borrows.
struct LoadedModel {
  std::unique_ptr<Compute> compute;
  Model model;

  const Engine& engine() const { return *model.engine; }
};
// In f32 unless the options say otherwise. Aborts with the error's text if the
// model does not load.
LoadedModel Load(const std::string& directory, const EngineOptions& options,
                 int threads = 2);

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_GOLDEN_H_
