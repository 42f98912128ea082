// What requests become: checked against the model, with the state they need.

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/runtime/transformer_engine.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::Status TransformerEngine::CheckIds(const char* input,
                                         absl::Span<const int> ids) const {
  const int count = static_cast<int>(ids.size());
  if (count < 1 || count > options_.max_source_tokens) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s has %d tokens, limits are 1 and %d (max_source_tokens)", input,
        count, options_.max_source_tokens));
  }
  for (const int id : ids) {
    if (id < 0 || id >= info_.source_vocab) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s token id is %d, limits are 0 and %d", input, id,
                          info_.source_vocab - 1));
    }
  }
  return absl::OkStatus();
}

absl::Status TransformerEngine::CheckSource(const SourceTokens& source) const {
  if (!transformer_->encodes()) {
    return absl::InvalidArgumentError(
        "the model has no encoder, the request has a source");
  }
  RETURN_IF_ERROR(CheckIds("source", source.ids));
  RETURN_IF_ERROR(CheckTypes(source));
  if (source.positions.empty()) return absl::OkStatus();
  if (source.positions.size() != source.ids.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("source has %d tokens but %d positions",
                        source.ids.size(), source.positions.size()));
  }
  const int max_positions =
      transformer_->spec().encoder->embedding.max_positions;
  int least = 0;
  for (int position : source.positions) {
    if (position < least || position >= max_positions) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "source position is %d, limits are %d and %d (they ascend)", position,
          least, max_positions - 1));
    }
    least = position + 1;
  }
  return absl::OkStatus();
}

absl::Status TransformerEngine::CheckTypes(const SourceTokens& source) const {
  if (source.types.empty()) return absl::OkStatus();
  if (source.types.size() != source.ids.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("source has %d tokens but %d token types",
                        source.ids.size(), source.types.size()));
  }
  const int most = std::max(info_.token_types - 1, 0);
  for (int type : source.types) {
    if (type < 0 || type > most) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "source token type is %d, limits are 0 and %d", type, most));
    }
  }
  return absl::OkStatus();
}

// Empty if all tokens count.
std::vector<int> TransformerEngine::TablePositions(
    const SourceTokens& source) const {
  const int uncounted = transformer_->spec().SourceEmbedding().uncounted_id;
  if (uncounted < 0) return {};
  // What was masked is taken to be padding: it is not counted either.
  std::vector<int> positions;
  positions.reserve(source.ids.size());
  int counted = 0;
  for (const int id : source.ids) {
    positions.push_back(id == uncounted ? -1 : counted++);
  }
  return positions;
}

absl::Status TransformerEngine::MakeParts(
    SourceTokens& source, TransformerSequence::Parts& parts) const {
  RETURN_IF_ERROR(CheckSource(source));
  parts.source = std::move(source);
  if (parts.source.positions.empty()) {
    parts.source.positions.resize(parts.source.ids.size());
    std::iota(parts.source.positions.begin(), parts.source.positions.end(), 0);
  }
  parts.table_positions = TablePositions(parts.source);
  return absl::OkStatus();
}

absl::Status TransformerEngine::MakeParts(
    Prompt& prompt, TransformerSequence::Parts& parts) const {
  if (transformer_->encodes()) {
    return absl::InvalidArgumentError(
        "the model has an encoder, the request a prompt");
  }
  RETURN_IF_ERROR(CheckIds("prompt", prompt.ids));
  parts.prompt = std::move(prompt.ids);
  return absl::OkStatus();
}

template <class Task>
absl::Status TransformerEngine::MakeParts(
    const Task& task, TransformerSequence::Parts& parts) const {
  if (!transformer_->encodes()) {
    return absl::InvalidArgumentError("the model has no encoder");
  }
  ASSIGN_OR_RETURN(
      parts.encoder_task,
      EncoderTask::Create(task, transformer_->spec(),
                          static_cast<int>(parts.source.ids.size())));
  return absl::OkStatus();
}

absl::Status TransformerEngine::MakeParts(
    GenerateTask& task, TransformerSequence::Parts& parts) const {
  if (!transformer_->generates()) {
    return absl::InvalidArgumentError("the model has no decoder");
  }
  const GenerationParams& params = task.params;
  std::vector<int>& prompt = parts.prompt;
  if (transformer_->encodes()) prompt = {params.decoder_start_id};
  RETURN_IF_ERROR(
      ValidateParams(params, static_cast<int>(prompt.size()), limits_));
  if (params.prompt_log_probs && transformer_->encodes()) {
    return absl::InvalidArgumentError(
        "prompt_log_probs is set, but the model does not continue its source");
  }
  prompt.insert(prompt.end(), params.forced_prefix.begin(),
                params.forced_prefix.end());
  parts.search = MakeSearch({.params = params,
                             .prompt = prompt,
                             .vocab = limits_.vocab,
                             .token_texts = token_texts_});
  if (params.prompt_log_probs && prompt.size() > 1) {
    parts.scorer = std::make_unique<Scorer>(
        std::vector<int>(prompt.begin() + 1, prompt.end()),
        params.top_log_probs);
  }
  // The last new token is never computed.
  parts.max_target_tokens =
      static_cast<int>(prompt.size()) - 1 + params.max_new_tokens;
  parts.max_hypotheses =
      std::max(params.num_beams, params.num_return_sequences);
  return absl::OkStatus();
}

absl::Status TransformerEngine::MakeParts(
    ScoreTask& task, TransformerSequence::Parts& parts) const {
  if (!transformer_->generates()) {
    return absl::InvalidArgumentError("the model has no decoder");
  }
  std::vector<int>& prompt = parts.prompt;
  if (transformer_->encodes()) prompt = {info_.generation.decoder_start_id};
  RETURN_IF_ERROR(ValidateTarget(task.target, task.top_log_probs,
                                 static_cast<int>(prompt.size()), limits_));
  parts.max_hypotheses = 1;
  prompt.insert(prompt.end(), task.target.begin(), task.target.end() - 1);
  parts.max_target_tokens = static_cast<int>(prompt.size());
  parts.scorer =
      std::make_unique<Scorer>(std::move(task.target), task.top_log_probs);
  return absl::OkStatus();
}

absl::Status TransformerEngine::CheckBlocks(const TransformerSequence& sequence,
                                            int tokens) const {
  if (sequence.max_blocks() <= pool_blocks_) return absl::OkStatus();
  const int fit = sequence.TokensThatFit(tokens, pool_blocks_);
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s has %d tokens, %s would fit with as many new ones: the request needs "
      "up to %d KV blocks, the pool has %d (kv_cache_bytes); fewer beams, "
      "samples or new tokens need less",
      transformer_->encodes() ? "source" : "prompt", tokens,
      fit < 1 ? "none" : absl::StrCat(fit), sequence.max_blocks(),
      pool_blocks_));
}

absl::StatusOr<std::unique_ptr<Sequence>> TransformerEngine::NewSequence(
    EngineRequest request) const {
  const int tokens = std::visit(
      [](const auto& input) { return static_cast<int>(input.ids.size()); },
      request.input);
  TransformerSequence::Parts parts;
  const auto make = [&](auto& from) { return MakeParts(from, parts); };
  RETURN_IF_ERROR(std::visit(make, request.input));
  RETURN_IF_ERROR(std::visit(make, request.task));
  parts.prefix_cache = options_.prefix_cache;
  auto sequence = std::make_unique<TransformerSequence>(
      *transformer_, kv_layout_.block_tokens, std::move(parts));
  RETURN_IF_ERROR(CheckBlocks(*sequence, tokens));
  return sequence;
}

}  // namespace attend
