#ifndef ATTEND_TESTS_ENGINE_RUNTIME_GOLDEN_H_
#define ATTEND_TESTS_ENGINE_RUNTIME_GOLDEN_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/api/engine.h"
#include "engine/compute/compute.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/runtime/model.h"

namespace attend {

// Reads what tests/golden/make_golden.py wrote; its docstring has the form.
nlohmann::json ReadGolden(const std::string& path);

// The directories under tests/golden that hold a checkpoint with expected.json:
// of models that generate, and of encoders without a decoder.
std::vector<std::string> GoldenModels();
std::vector<std::string> GoldenEncoders();
std::string GoldenDirectory(const std::string& name);
// A directory's name as that of a test.
std::string TestNameOf(std::string name);

// The source of a case, its masked tokens left out.
SourceTokens SourceOf(const nlohmann::json& golden_case);

// Which rows of a result a case gives: its "rows", or all `count`.
std::vector<int> RowsOf(const nlohmann::json& golden_case, int count);

// `params` of a case, in transformers' names, over a model's defaults.
GenerationParams ParamsOf(const nlohmann::json& params,
                          const GenerationParams& defaults);

// f32 and f64 runs of small models agree within 5e-6 * (1 + |x|); ten times
// that is still far below what a wrong formula moves.
double Tolerance(double expected);

// How far a vector may be from the expected one, relative to its length, after
// `matmuls` in bf16 or int8.
double RelativeBound(ComputeType dtype, double matmuls);

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

// EngineOptions::kv_cache_bytes for a pool of so many of the model's blocks.
size_t PoolBytes(const std::string& directory, int blocks);

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_RUNTIME_GOLDEN_H_
