#ifndef ATTEND_ENGINE_RUNTIME_MODEL_H_
#define ATTEND_ENGINE_RUNTIME_MODEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/api/engine.h"
#include "engine/compute/compute.h"
#include "engine/grammar/grammar_compiler.h"
#include "engine/runtime/transformer_engine.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// A model as it is served.
struct Model {
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<ChatTemplate> chat = nullptr;  // null: no chat template
  // Null: the model does not generate.
  std::unique_ptr<GrammarCompiler> grammars = nullptr;
};

// Makes the process's thread team. options.max_isa limits oneDNN too, in the
// whole process; see LimitIsa() for the error.
absl::StatusOr<std::unique_ptr<Compute>> NewCompute(
    const ComputeOptions& options);

// Loads a Hugging Face directory (config.json, generation_config.json,
// model.safetensors or its shards, the tokenizer's files and, for a model
// without an encoder, the chat template), one of CTranslate2, or a GGUF file.
// `compute` must outlive the model. Errors: see OpenModelFiles().
absl::StatusOr<Model> LoadModel(Compute& compute, const std::string& path,
                                const std::string& name,
                                const EngineOptions& options);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_MODEL_H_
