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

// The directories below tests/golden that have a checkpoint and expected.json:
// of models that generate, and of encoders without a decoder.
std::vector<std::string> GoldenModels();
std::vector<std::string> GoldenEncoders();
// The GGUF files that generate, below tests/golden: "gguf/gpt2-gelu.gguf".
std::vector<std::string> GoldenGgufs();
// The directories below tests/golden/quantized: "quantized/awq".
std::vector<std::string> GoldenQuantized();
std::string GoldenDirectory(const std::string& name);
// What is expected of a directory or a GGUF file.
nlohmann::json ReadExpected(const std::string& name);
// The name of a directory in the form of a test's name.
std::string TestNameOf(std::string name);

// The source of a case, its masked tokens left out.
SourceTokens SourceOf(const nlohmann::json& golden_case);

// The rows of a result that a case has: its "rows", or all `count` rows.
std::vector<int> RowsOf(const nlohmann::json& golden_case, int count);

// `params` of a case, in transformers' names, over a model's defaults.
GenerationParams ParamsOf(const nlohmann::json& params,
                          const GenerationParams& defaults);

// f32 and f64 runs of small models agree within 5e-6 * (1 + |x|). The tolerance
// is ten times that, still far below the effect of a wrong formula.
double Tolerance(double expected);

// How far a vector may be from the expected one, relative to its length, after
// `matmuls` of rows of `hidden` numbers in bf16 or in 8 bits.
double RelativeBound(ComputeType dtype, int hidden, double matmuls);

// A model with everything it borrows.
struct LoadedModel {
  std::unique_ptr<Compute> compute;
  Model model;

  const Engine& engine() const { return *model.engine; }
};
// In f32 unless the options say otherwise. Aborts with the error's text if the
// model does not load. A team would wait for its members wherever another test
// runs beside it.
// `draft`: the directory of a draft model; empty: none.
LoadedModel Load(const std::string& directory, const EngineOptions& options,
                 int threads = 1, const std::string& draft = "");

// EngineOptions::kv_cache_bytes for a pool of `blocks` blocks of the model.
size_t PoolBytes(const std::string& directory, int blocks);

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_RUNTIME_GOLDEN_H_
