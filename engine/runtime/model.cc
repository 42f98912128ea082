#include "engine/runtime/model.h"

#include <malloc.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/compute/memory_limit.h"
#include "engine/decoding/validate_params.h"
#include "engine/ops/matmul/isa_limit.h"
#include "engine/runtime/default_compute_type.h"
#include "engine/runtime/load_draft.h"
#include "engine/runtime/load_transformer.h"
#include "engine/runtime/model_files.h"
#include "engine/runtime/model_memory.h"
#include "engine/runtime/routed_engine.h"
#include "engine/runtime/token_words.h"
#include "engine/tensor/status_macros.h"
#include "engine/tensor/text_list.h"

namespace attend {
namespace {

// Warns of defaults that a request is refused for if it does not replace them.
void CheckDefaults(const std::string& path, const TransformerSpec& spec,
                   int max_beams, GenerationDefaults& defaults) {
  const EmbeddingSpec& target = spec.decoder->embedding;
  const absl::Status status =
      ValidateParams(defaults.params, 1,
                     {.vocab = target.vocab,
                      .max_target_tokens = target.max_positions,
                      .max_beams = max_beams});
  if (status.ok()) return;
  defaults.warnings.push_back(absl::StrFormat(
      "%s: the model's generation parameters: %s", path, status.message()));
}

// The memory that the model of one set of files takes.
std::vector<MemoryNeed> NeedsOf(const ModelFiles& files, ComputeType dtype,
                                const EngineOptions& options) {
  const TransformerSpec& spec = files.family.spec;
  std::vector<MemoryNeed> needs =
      ServingNeeds(spec, dtype, FitOptions(spec, options));
  needs.push_back({"weights", WeightBytes(*files.tensors, files.family.names,
                                          spec, dtype)});
  return needs;
}

// Checks, before any memory of the model is taken, that this process may have
// all of it, with the draft model's, if there is one. Otherwise the system
// might kill the process, or a library might end it.
absl::Status CheckRoom(const ModelFiles& files, ComputeType dtype,
                       const EngineOptions& options,
                       const std::optional<DraftFiles>& draft) {
  // The memory that oneDNN takes for its kernels, and that loading tensors
  // takes.
  constexpr uint64_t kBeside = uint64_t{384} << 20;
  RETURN_IF_ERROR(files.family.spec.Validate());
  std::vector<MemoryNeed> needs = NeedsOf(files, dtype, options);
  for (const ModelFiles& other : files.others) {
    RETURN_IF_ERROR(other.family.spec.Validate());
    for (MemoryNeed& need : NeedsOf(other, dtype, options)) {
      needs.push_back(need);
    }
  }
  if (draft) {
    for (MemoryNeed& need : DraftNeeds(*draft)) needs.push_back(need);
  }
  RETURN_IF_ERROR(CheckMemory(needs, FindMemoryLimit()));
  uint64_t bytes = kBeside;
  for (const MemoryNeed& need : needs) bytes += need.bytes;
  return CheckAddressSpace("the model", bytes);
}

// The same, but limits max_source_tokens where the default is too long for the
// memory.
absl::Status FitToRoom(const ModelFiles& files, ComputeType dtype,
                       const std::optional<DraftFiles>& draft,
                       EngineOptions& options) {
  const absl::Status room = CheckRoom(files, dtype, options, draft);
  if (room.ok() || options.max_source_tokens != 0 ||
      !files.family.spec.encoder) {
    return room;
  }
  EngineOptions shorter = options;
  shorter.max_source_tokens = EngineOptions::kEncoderTokens;
  if (!CheckRoom(files, dtype, shorter, draft).ok()) return room;
  options = shorter;
  return absl::OkStatus();
}

// The part of the ModelInfo that the files say.
ModelInfo InfoOf(const std::string& name, ModelFiles& files) {
  Family& family = files.family;
  ModelInfo info;
  info.name = name;
  info.family = std::move(family.model_type);
  info.labels = std::move(family.labels);
  info.label_scores = family.label_scores;
  info.pair_scores = family.pair_scores;
  info.chat_pairs = family.chat_pairs;
  info.prompts = std::move(family.prompts);
  info.default_prompt = std::move(family.default_prompt);
  info.adapters = std::move(family.adapters);
  info.adds_special = family.adds_special;
  const Tokenizer& tokenizer = *files.tokenizer;
  info.token_vectors = ToIds(family.token_vectors, tokenizer);
  info.weightless_ids = IdsOf(family.weightless, tokenizer);
  // As sentence-transformers: max_seq_length, else model_max_length.
  info.max_text_tokens = family.max_text_tokens > 0
                             ? family.max_text_tokens
                             : files.tokenizer->max_length();
  info.role_routes = files.role_routes;
  if (files.generation) {
    info.generation = std::move(files.generation->params);
    info.max_length = files.generation->max_length;
    info.min_length = files.generation->min_length;
    info.missing_defaults = std::move(files.generation->missing);
  }
  return info;
}

VocabularyTexts TextsOfTokens(const Tokenizer& tokenizer, int vocab) {
  VocabularyTexts texts;
  const int known = tokenizer.vocab_size(Side::kTarget);
  for (int id = 0; id < vocab; ++id) {
    const absl::string_view text = tokenizer.TokenText(id);
    const bool special =
        text.empty() && id < known && tokenizer.IsSpecial(id, Side::kTarget);
    texts.plain.Add(text);
    texts.special.Add(special ? tokenizer.Piece(id, Side::kTarget) : "");
  }
  texts.plain.ShrinkToFit();
  texts.special.ShrinkToFit();
  return texts;
}

absl::StatusOr<std::optional<DraftFiles>> OpenDraftOf(
    const DraftTarget& target, const std::string& path, Isa isa,
    const EngineOptions& options) {
  if (path.empty() || isa < Isa::kAvx2) return std::nullopt;
  absl::StatusOr<DraftFiles> draft = OpenDraft(path, target, isa, options);
  if (draft.ok()) return *std::move(draft);
  return absl::Status(draft.status().code(),
                      absl::StrCat("draft model: ", draft.status().message()));
}

DraftInfo InfoOf(const DraftModel& draft) {
  return {.family = draft.family,
          .cost = draft.cost,
          .kv_cache_bytes = draft.options.kv_cache_bytes};
}

// The engine of a model whose texts take several routes, some of which begin
// with a module that is not in `files` but in files.others. `engine` computes
// the others.
absl::StatusOr<std::unique_ptr<Engine>> AddRoutes(
    Compute& compute, ModelFiles& files, ComputeType dtype,
    const EngineOptions& options, std::unique_ptr<Engine> engine,
    std::vector<std::shared_ptr<const Tokenizer>>& tokenizers) {
  const std::string name = engine->info().name;
  std::vector<std::unique_ptr<Engine>> engines;
  tokenizers.resize(files.family.spec.Routes());
  for (ModelFiles& other : files.others) {
    const TransformerSpec spec = other.family.spec;
    ASSIGN_OR_RETURN(std::unique_ptr<Transformer> transformer,
                     LoadTransformer(compute, other, dtype, options));
    ASSIGN_OR_RETURN(engines.emplace_back(),
                     TransformerEngine::Create(
                         compute, std::move(transformer),
                         TextsOfTokens(*other.tokenizer, spec.LogitsVocab()),
                         InfoOf(name, other), options, {}));
    tokenizers.resize(tokenizers.size() + spec.Routes(),
                      std::move(other.tokenizer));
  }
  engines.insert(engines.begin(), std::move(engine));
  return std::make_unique<RoutedEngine>(std::move(engines));
}

// Without a file the shortlist is null.
absl::StatusOr<LoadedShortlist> OpenShortlist(const ShortlistFile& file,
                                              const ModelFiles& files) {
  if (file.path.empty()) return LoadedShortlist{};
  const TransformerSpec& spec = files.family.spec;
  if (!spec.encoder || !spec.decoder) {
    return absl::InvalidArgumentError(
        absl::StrCat("shortlist is ", file.path,
                     ", but the model has not both encoder and decoder"));
  }
  return LoadShortlist(file, *files.tokenizer, spec.LogitsVocab());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Compute>> NewCompute(
    const ComputeOptions& options) {
  RETURN_IF_ERROR(LimitIsa(options.max_isa));
  return std::make_unique<Compute>(options);
}

absl::StatusOr<Model> LoadModel(Compute& compute, const std::string& path,
                                const std::string& name,
                                const EngineOptions& wanted,
                                const std::string& draft_path) {
  EngineOptions options = wanted;
  RETURN_IF_ERROR(options.Validate());
  ASSIGN_OR_RETURN(ModelFiles files, OpenModelFiles(path, options.adapter));
  const TransformerSpec spec = files.family.spec;
  if (files.generation) {
    CheckDefaults(path, spec, options.max_beams, *files.generation);
  }
  const ComputeType dtype =
      options.dtype.value_or(DefaultComputeType(*files.tensors, compute.isa()));
  ASSIGN_OR_RETURN(
      std::optional<DraftFiles> draft_files,
      OpenDraftOf({files, path, dtype}, draft_path, compute.isa(), options));
  RETURN_IF_ERROR(FitToRoom(files, dtype, draft_files, options));
  Model model;
  if (files.generation) {
    model.warnings = std::move(files.generation->warnings);
  }
  ASSIGN_OR_RETURN(LoadedShortlist listed,
                   OpenShortlist(options.shortlist, files));
  model.shortlist = listed.counts;
  ASSIGN_OR_RETURN(std::unique_ptr<Transformer> transformer,
                   LoadTransformer(compute, files, dtype, options));
  model.skipped_tensors = files.skipped;
  model.adapter = files.adapter;
  const int source_ngram_size =
      files.generation ? files.generation->source_ngram_size : 0;
  std::unique_ptr<const DraftModel> draft;
  if (draft_files) {
    ASSIGN_OR_RETURN(draft, LoadDraft(compute, *std::move(draft_files)));
    model.draft = InfoOf(*draft);
  }
  ASSIGN_OR_RETURN(model.engine,
                   TransformerEngine::Create(
                       compute, std::move(transformer),
                       TextsOfTokens(*files.tokenizer, spec.LogitsVocab()),
                       InfoOf(name, files), options,
                       {.draft = std::move(draft),
                        .shortlist = std::move(listed.shortlist),
                        .source_ngram_size = source_ngram_size}));
  if (!files.others.empty()) {
    ASSIGN_OR_RETURN(model.engine, AddRoutes(compute, files, dtype, options,
                                             std::move(model.engine),
                                             model.route_tokenizers));
  }
  // Gives memory that was needed for loading only back to the system.
  malloc_trim(0);
  if (spec.decoder && spec.generates) {
    model.grammars = std::make_unique<GrammarCompiler>(
        *files.tokenizer, spec.LogitsVocab(), spec.encoder.has_value());
  }
  model.tokenizer = std::move(files.tokenizer);
  model.chat = std::move(files.chat);
  return model;
}

}  // namespace attend
