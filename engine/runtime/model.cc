#include "engine/runtime/model.h"

#include <malloc.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "engine/checkpoint/weights.h"
#include "engine/compute/memory_limit.h"
#include "engine/decoding/validate_params.h"
#include "engine/ops/matmul/isa_limit.h"
#include "engine/runtime/default_compute_type.h"
#include "engine/runtime/model_files.h"
#include "engine/runtime/model_memory.h"
#include "engine/tensor/status_macros.h"
#include "engine/tensor/text_list.h"

namespace attend {
namespace {

// Most requests use the defaults alone: defaults that would be refused in a
// request are refused here.
absl::Status CheckDefaults(const std::string& path,
                           const GenerationParams& params,
                           const TransformerSpec& spec, int max_beams) {
  const EmbeddingSpec& target = spec.decoder->embedding;
  const absl::Status status =
      ValidateParams(params, 1,
                     {.vocab = target.vocab,
                      .max_target_tokens = target.max_positions,
                      .max_beams = max_beams});
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: the model's generation parameters: %s", path, status.message()));
}

// Checks, before any memory of the model is taken, that this process may have
// all of it. Otherwise the system might kill the process, or a library might
// end it.
absl::Status CheckRoom(const TensorSource& tensors, const Family& family,
                       ComputeType dtype, const EngineOptions& options) {
  // The memory that oneDNN takes for its kernels, and that loading tensors
  // takes.
  constexpr uint64_t kBeside = uint64_t{384} << 20;
  RETURN_IF_ERROR(family.spec.Validate());
  std::vector<MemoryNeed> needs =
      ServingNeeds(family.spec, dtype, FitOptions(family.spec, options));
  needs.push_back(
      {"weights", WeightBytes(tensors, family.names, family.spec, dtype)});
  RETURN_IF_ERROR(CheckMemory(needs, FindMemoryLimit()));
  uint64_t bytes = kBeside;
  for (const MemoryNeed& need : needs) bytes += need.bytes;
  return CheckAddressSpace("the model", bytes);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Compute>> NewCompute(
    const ComputeOptions& options) {
  RETURN_IF_ERROR(LimitIsa(options.max_isa));
  return std::make_unique<Compute>(options);
}

absl::StatusOr<Model> LoadModel(Compute& compute, const std::string& path,
                                const std::string& name,
                                const EngineOptions& options) {
  RETURN_IF_ERROR(options.Validate());
  ASSIGN_OR_RETURN(ModelFiles files, OpenModelFiles(path));
  Family& family = files.family;
  ModelInfo info;
  info.name = name;
  info.family = std::move(family.model_type);
  info.labels = std::move(family.labels);
  info.label_scores = family.label_scores;
  info.prompts = std::move(family.prompts);
  info.default_prompt = std::move(family.default_prompt);
  info.max_text_tokens = family.max_text_tokens;
  if (files.generation) {
    RETURN_IF_ERROR(
        CheckDefaults(path, *files.generation, family.spec, options.max_beams));
    info.generation = *std::move(files.generation);
  }
  const ComputeType dtype =
      options.dtype.value_or(DefaultComputeType(*files.tensors, compute.isa()));
  RETURN_IF_ERROR(CheckRoom(*files.tensors, family, dtype, options));
  Weights weights(*files.tensors, std::move(family.names));
  auto loaded = Transformer::Load(
      compute, family.spec, weights,
      {.dtype = dtype,
       .max_rows = options.max_step_rows,
       .max_positions = PoolTokens(family.spec, dtype, options)});
  // First: what is wrong with other bytes than the file's is not its fault.
  RETURN_IF_ERROR(files.tensors->CheckUnchanged());
  ASSIGN_OR_RETURN(std::unique_ptr<Transformer> transformer, std::move(loaded));
  RETURN_IF_ERROR(weights.CheckAllRead());

  TextList token_texts;
  for (int id = 0; id < family.spec.LogitsVocab(); ++id) {
    token_texts.Add(files.tokenizer->TokenText(id));
  }
  token_texts.ShrinkToFit();
  ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine,
                   TransformerEngine::Create(compute, std::move(transformer),
                                             std::move(token_texts),
                                             std::move(info), options));
  // Gives memory that was needed for loading only back to the system.
  malloc_trim(0);
  std::unique_ptr<GrammarCompiler> grammars;
  if (family.spec.decoder) {
    grammars = std::make_unique<GrammarCompiler>(
        *files.tokenizer, family.spec.LogitsVocab(),
        family.spec.encoder.has_value());
  }
  return Model{.engine = std::move(engine),
               .tokenizer = std::move(files.tokenizer),
               .chat = std::move(files.chat),
               .grammars = std::move(grammars)};
}

}  // namespace attend
