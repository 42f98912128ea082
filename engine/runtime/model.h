#ifndef ATTEND_ENGINE_RUNTIME_MODEL_H_
#define ATTEND_ENGINE_RUNTIME_MODEL_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/api/engine.h"
#include "engine/compute/compute.h"
#include "engine/grammar/grammar_compiler.h"
#include "engine/runtime/transformer_engine.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// What is known of a model's draft model.
struct DraftInfo {
  std::string family;  // config.json's model_type
  // The time of a row, for one of the model, as far as weights say it.
  float cost = 0;
  size_t kv_cache_bytes = 0;
};

// A model as it is served.
struct Model {
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Tokenizer> tokenizer;
  // Tokenizers of routes that begin with another module, by the routes of
  // ModelInfo; null: the route has `tokenizer`. Empty: all routes have it.
  std::vector<std::shared_ptr<const Tokenizer>> route_tokenizers = {};
  std::unique_ptr<ChatTemplate> chat = nullptr;  // null: no chat template
  // Null: the model does not generate.
  std::unique_ptr<GrammarCompiler> grammars = nullptr;
  std::optional<DraftInfo> draft = std::nullopt;  // nullopt: no draft model
  // What was read of the shortlist's file; zeros: there is none.
  ShortlistCounts shortlist = {};
  // Settings in the model's files that are not applied, for the log.
  std::vector<std::string> warnings = {};
  // Tensors of the file that the model does not have, as heads of other models.
  std::vector<std::string> skipped_tensors = {};
  std::string adapter = {};  // the directory of its adapter; empty: none
};

// Makes the process's thread team. options.max_isa limits oneDNN too, in the
// whole process; see LimitIsa() for the error.
absl::StatusOr<std::unique_ptr<Compute>> NewCompute(
    const ComputeOptions& options);

// Loads a Hugging Face directory (config.json, generation_config.json,
// model.safetensors or its shards, the tokenizer's files and, for a model
// without an encoder, the chat template), one of CTranslate2, or a GGUF file.
// `compute` must outlive the model. Errors: see OpenModelFiles() and
// LoadShortlist(); INVALID_ARGUMENT: the model is none for a shortlist.
//
// `draft_path`: a model that drafts tokens for this one; see OpenDraft() for
// the errors. Empty: none. With instructions older than AVX2 it is not
// loaded, as nothing is drafted there (see EngineOptions::prompt_lookup).
absl::StatusOr<Model> LoadModel(Compute& compute, const std::string& path,
                                const std::string& name,
                                const EngineOptions& options,
                                const std::string& draft_path = "");

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_MODEL_H_
