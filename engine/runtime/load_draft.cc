#include "engine/runtime/load_draft.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/runtime/default_compute_type.h"
#include "engine/runtime/load_transformer.h"
#include "engine/runtime/model_memory.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// A model's files, and how errors call it.
struct NamedFiles {
  const ModelFiles& files;
  const std::string& path;

  const TransformerSpec& spec() const { return files.family.spec; }
};

absl::Status CheckKind(const NamedFiles& draft, const NamedFiles& target) {
  for (const NamedFiles& model : {draft, target}) {
    if (model.spec().decoder) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s has no decoder (model_type is %s), so %s", model.path,
        model.files.family.model_type,
        model.path == draft.path ? "it cannot draft tokens"
                                 : "no tokens can be drafted for it"));
  }
  if (draft.spec().encoder.has_value() != target.spec().encoder.has_value()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s has %s encoder, but %s has %s; a draft model is of the kind of its "
        "model",
        draft.path, draft.spec().encoder ? "an" : "no", target.path,
        target.spec().encoder ? "one" : "none"));
  }
  for (const NamedFiles& model : {draft, target}) {
    if (model.spec().decoder->RotaryByLength() == nullptr) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s has rotary frequencies that depend on the length of the text; with "
        "these nothing can be drafted",
        model.path));
  }
  return absl::OkStatus();
}

// The bytes of a target token; special tokens and all of a source by their
// spelling.
absl::string_view TokenBytes(const Tokenizer& tokenizer, int id, Side side) {
  if (side == Side::kTarget) {
    const absl::string_view text = tokenizer.TokenText(id);
    if (!text.empty()) return text;
  }
  return tokenizer.Piece(id, side);
}

absl::Status CheckTokens(const NamedFiles& draft, const NamedFiles& target,
                         Side side) {
  const Tokenizer& ours = *draft.files.tokenizer;
  const Tokenizer& theirs = *target.files.tokenizer;
  const char* const name = side == Side::kSource ? "source" : "target";
  const int tokens = ours.vocab_size(side);
  if (tokens != theirs.vocab_size(side)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s has %d %s tokens, but %s has %d; a draft model has the tokens of "
        "its model",
        draft.path, tokens, name, target.path, theirs.vocab_size(side)));
  }
  for (int id = 0; id < tokens; ++id) {
    const absl::string_view our = TokenBytes(ours, id, side);
    const absl::string_view their = TokenBytes(theirs, id, side);
    if (our == their) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s token %d is '%s' in %s, but '%s' in %s; a draft model has the "
        "tokens of its model",
        name, id, absl::CHexEscape(our), draft.path, absl::CHexEscape(their),
        target.path));
  }
  return absl::OkStatus();
}

// A model without a tokenizer has ids alone.
absl::Status CheckIds(const NamedFiles& draft, const NamedFiles& target) {
  const int ours = draft.spec().LogitsVocab();
  const int theirs = target.spec().LogitsVocab();
  if (draft.files.tokenizer->vocab_size(Side::kTarget) > 0 || ours == theirs) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s has %d ids, but %s has %d; a draft model has the tokens of its model",
      draft.path, ours, target.path, theirs));
}

absl::Status CheckFits(const NamedFiles& draft, const NamedFiles& target) {
  RETURN_IF_ERROR(draft.spec().Validate());
  RETURN_IF_ERROR(target.spec().Validate());
  RETURN_IF_ERROR(CheckKind(draft, target));
  RETURN_IF_ERROR(CheckTokens(draft, target, Side::kTarget));
  RETURN_IF_ERROR(CheckIds(draft, target));
  if (!target.spec().encoder) return absl::OkStatus();
  return CheckTokens(draft, target, Side::kSource);
}

}  // namespace

absl::StatusOr<DraftFiles> OpenDraft(const std::string& path,
                                     const DraftTarget& target, Isa isa,
                                     const EngineOptions& options) {
  ASSIGN_OR_RETURN(ModelFiles files, OpenModelFiles(path));
  RETURN_IF_ERROR(CheckFits({files, path}, {target.files, target.path}));
  const TransformerSpec& ours = files.family.spec;
  const TransformerSpec& theirs = target.files.family.spec;
  DraftModel model;
  model.options = DraftOptions(
      ours, options.dtype.value_or(DefaultComputeType(*files.tensors, isa)),
      FitOptions(theirs, options), PoolTokens(theirs, target.dtype, options));
  model.cost = options.draft_cost.value_or(
      static_cast<float>(DecoderRowCost(ours) / DecoderRowCost(theirs)));
  // Tables may have rows beside those of the tokens, of any number.
  model.vocab = std::min(ours.LogitsVocab(), theirs.LogitsVocab());
  model.source_vocab =
      std::min(ours.SourceEmbedding().vocab, theirs.SourceEmbedding().vocab);
  model.family = files.family.model_type;
  return DraftFiles{.files = std::move(files), .model = std::move(model)};
}

std::vector<MemoryNeed> DraftNeeds(const DraftFiles& draft) {
  const Family& family = draft.files.family;
  const ComputeType dtype = *draft.model.options.dtype;
  std::vector<MemoryNeed> needs =
      ServingNeeds(family.spec, dtype, draft.model.options);
  needs.push_back({"weights", WeightBytes(*draft.files.tensors, family.names,
                                          family.spec, dtype)});
  for (MemoryNeed& need : needs) {
    need.what = absl::StrCat("the draft model's ", need.what);
  }
  return needs;
}

absl::StatusOr<std::unique_ptr<const DraftModel>> LoadDraft(Compute& compute,
                                                            DraftFiles draft) {
  ASSIGN_OR_RETURN(
      draft.model.transformer,
      LoadTransformer(compute, draft.files, *draft.model.options.dtype,
                      draft.model.options));
  return std::make_unique<const DraftModel>(std::move(draft.model));
}

}  // namespace attend
