#include "tests/engine/runtime/golden.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <utility>

#include "engine/ops/matmul/spread_block.h"
#include "engine/tensor/check.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

using nlohmann::json;

constexpr char kGolden[] = ATTEND_SOURCE_DIR "/tests/golden/";

// Names of the checkpoints that have `section` in expected.json, or have not.
std::vector<std::string> Checkpoints(const std::string& section, bool has) {
  std::vector<std::string> names;
  for (const char* parent : {"marian/", "families/"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(kGolden) + parent)) {
      const std::string name = parent + entry.path().filename().string();
      if (!std::filesystem::exists(entry.path() / "config.json") ||
          !std::filesystem::exists(entry.path() / "expected.json")) {
        continue;
      }
      if (ReadGolden(name + "/expected.json").contains(section) == has) {
        names.push_back(name);
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

EarlyStopping EarlyStoppingOf(const json& value) {
  if (value.is_string()) return EarlyStopping::kNever;
  return value.get<bool>() ? EarlyStopping::kTrue : EarlyStopping::kFalse;
}

template <typename T>
void Set(const json& params, const char* name, T& field) {
  if (params.contains(name)) field = params[name].get<T>();
}

}  // namespace

json ReadGolden(const std::string& path) {
  std::ifstream file(kGolden + path);
  ATTEND_CHECK(file.good());
  return json::parse(file);
}

std::string GoldenDirectory(const std::string& name) { return kGolden + name; }

std::vector<std::string> GoldenModels() {
  return Checkpoints("generate", true);
}

std::vector<std::string> GoldenEncoders() {
  return Checkpoints("generate", false);
}

std::vector<std::string> GoldenGgufs() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(kGolden) + "gguf")) {
    if (entry.path().extension() != ".gguf") continue;
    const std::string name = "gguf/" + entry.path().filename().string();
    if (ReadExpected(name).contains("generate")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> GoldenQuantized() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string(kGolden) + "quantized")) {
    names.push_back("quantized/" + entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

json ReadExpected(const std::string& name) {
  const std::filesystem::path path = name;
  if (path.extension() != ".gguf") return ReadGolden(name + "/expected.json");
  const std::string own = "gguf/" + path.stem().string() + ".json";
  if (std::filesystem::exists(kGolden + own)) return ReadGolden(own);
  return ReadGolden("families/" + path.stem().string() + "/expected.json");
}

std::string TestNameOf(std::string name) {
  const size_t folder = name.rfind('/');
  if (folder != std::string::npos) name.erase(0, folder + 1);
  for (const char sign : {'-', '.'}) {
    std::replace(name.begin(), name.end(), sign, '_');
  }
  return name;
}

SourceTokens SourceOf(const json& golden_case) {
  const std::vector<int> ids = golden_case["source"];
  SourceTokens source;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (golden_case.contains("mask") && golden_case["mask"][i] == 0) continue;
    source.ids.push_back(ids[i]);
    source.positions.push_back(static_cast<int>(i));
    if (golden_case.contains("types")) {
      source.types.push_back(golden_case["types"][i]);
    }
  }
  return source;
}

std::vector<int> RowsOf(const json& golden_case, int count) {
  if (golden_case.contains("rows")) return golden_case["rows"];
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

GenerationParams ParamsOf(const json& params,
                          const GenerationParams& defaults) {
  GenerationParams result = defaults;
  Set(params, "max_new_tokens", result.max_new_tokens);
  Set(params, "min_new_tokens", result.min_new_tokens);
  Set(params, "num_beams", result.num_beams);
  Set(params, "num_return_sequences", result.num_return_sequences);
  Set(params, "length_penalty", result.length_penalty);
  Set(params, "do_sample", result.do_sample);
  Set(params, "repetition_penalty", result.repetition_penalty);
  Set(params, "no_repeat_ngram_size", result.no_repeat_ngram_size);
  Set(params, "renormalize_logits", result.renormalize_logits);
  Set(params, "bad_words_ids", result.bad_words);
  Set(params, "forced_eos_token_id", result.forced_eos_id);
  Set(params, "forced_bos_token_id", result.forced_bos_id);
  Set(params, "suppress_tokens", result.suppress_tokens);
  Set(params, "begin_suppress_tokens", result.begin_suppress_tokens);
  if (params.contains("sequence_bias")) {
    for (const json& entry : params["sequence_bias"]) {
      result.sequence_bias.push_back({entry[0], entry[1]});
    }
  }
  if (params.contains("stop_strings")) {
    const json& stop = params["stop_strings"];
    result.stop_strings = stop.is_string()
                              ? std::vector<std::string>{stop}
                              : stop.get<std::vector<std::string>>();
  }
  if (params.contains("early_stopping")) {
    result.early_stopping = EarlyStoppingOf(params["early_stopping"]);
  }
  if (params.contains("eos_token_id")) {
    const json& eos = params["eos_token_id"];
    result.eos_ids = eos.is_array() ? eos.get<std::vector<int>>()
                                    : std::vector<int>{eos.get<int>()};
  }
  if (params.contains("decoder_input_ids")) {
    const std::vector<int> ids = params["decoder_input_ids"];
    result.forced_prefix.assign(ids.begin() + 1, ids.end());
  }
  return result;
}

double Tolerance(double expected) { return 5e-5 * (1 + std::abs(expected)); }

// Each matmul rounds both its factors to a step (bf16: 2^-8; others: 1/127 of
// the largest, but for spread weights in int8, whose steps are 0.8 of that
// since they have a range of their own), uniformly, so by step / sqrt(12) in
// the mean; the largest of a row is about 3 times its mean, or 5 times in w8
// and int4, where gates multiply. Errors of that kind add in quadrature:
// relative to the row's length sqrt(2 M) * 3 * step / sqrt(12), doubled for
// what residuals and norms carry on. A wrong formula or scale is off by the
// length itself.
double RelativeBound(ComputeType dtype, int hidden, double matmuls) {
  const double step = dtype == ComputeType::kBf16 ? 1.0 / 256 : 1.0 / 127;
  const bool int8 = dtype == ComputeType::kInt8;
  const bool spread = int8 && SpreadBlock(hidden) > 0;
  const double largest = IsGrouped(dtype) && !int8 ? 5 : 3;
  const double factors = spread ? 1 + 0.8 * 0.8 : 2;
  return 2 * std::sqrt(factors * matmuls) * largest * step / std::sqrt(12);
}

LoadedModel Load(const std::string& directory, const EngineOptions& options,
                 int threads, const std::string& draft) {
  // What is golden is f32, on machines too that would choose another dtype.
  EngineOptions f32 = options;
  f32.dtype = options.dtype.value_or(ComputeType::kF32);
  LoadedModel loaded;
  loaded.compute = std::make_unique<Compute>(
      ComputeOptions{.threads = threads, .max_isa = TestIsa()});
  absl::StatusOr<Model> model =
      LoadModel(*loaded.compute, directory, "test", f32, draft);
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", model.status().ToString().c_str());
    std::abort();
  }
  loaded.model = *std::move(model);
  return loaded;
}

size_t PoolBytes(const std::string& directory, int blocks) {
  constexpr size_t kEnough = 1 << 20;
  const LoadedModel model = Load(directory, {.kv_cache_bytes = kEnough});
  return kEnough / model.engine().NewContext()->total_blocks() * blocks;
}

}  // namespace attend
