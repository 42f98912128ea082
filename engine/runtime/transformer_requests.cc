// What requests become: checked against the model, with the state they need.

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/runtime/transformer_engine.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::Status TransformerEngine::CheckSource(const SourceTokens& source) const {
  const int rows = static_cast<int>(source.ids.size());
  if (rows < 1 || rows > options_.max_source_tokens) {
    return absl::InvalidArgumentError(
        absl::StrFormat("source has %d tokens, limits are 1 and %d "
                        "(max_source_tokens)",
                        rows, options_.max_source_tokens));
  }
  for (int id : source.ids) {
    if (id < 0 || id >= info_.source_vocab) {
      return absl::InvalidArgumentError(
          absl::StrFormat("source token id is %d, limits are 0 and %d", id,
                          info_.source_vocab - 1));
    }
  }
  RETURN_IF_ERROR(CheckTypes(source));
  if (source.positions.empty()) return absl::OkStatus();
  if (source.positions.size() != source.ids.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("source has %d tokens but %d positions", rows,
                        source.positions.size()));
  }
  if (!transformer_->encodes()) {
    return absl::InvalidArgumentError(
        "source has positions, the model has no encoder that reads them");
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

std::vector<int> TransformerEngine::TakePrompt(
    TransformerSequence::Parts& parts) const {
  if (transformer_->encodes()) return {};
  return std::exchange(parts.source, {}).ids;
}

absl::Status TransformerEngine::MakeParts(
    GenerateTask& task, TransformerSequence::Parts& parts) const {
  if (!transformer_->generates()) {
    return absl::InvalidArgumentError("the model has no decoder");
  }
  GenerationParams& params = task.params;
  if (const std::vector<int> prompt = TakePrompt(parts); !prompt.empty()) {
    params.decoder_start_id = prompt.front();
    params.forced_prefix.insert(params.forced_prefix.begin(),
                                prompt.begin() + 1, prompt.end());
  }
  RETURN_IF_ERROR(ValidateParams(params, limits_));
  if (params.prompt_log_probs && transformer_->encodes()) {
    return absl::InvalidArgumentError(
        "prompt_log_probs is set, but the model does not continue its source");
  }
  parts.search = MakeSearch(params, limits_.vocab, token_texts_);
  if (params.prompt_log_probs && !params.forced_prefix.empty()) {
    parts.scorer =
        std::make_unique<Scorer>(params.forced_prefix, params.top_log_probs);
  }
  // The last new token is never computed.
  parts.max_target_tokens =
      static_cast<int>(params.forced_prefix.size()) + params.max_new_tokens;
  parts.max_hypotheses =
      std::max(params.num_beams, params.num_return_sequences);
  return absl::OkStatus();
}

absl::Status TransformerEngine::MakeParts(
    ScoreTask& task, TransformerSequence::Parts& parts) const {
  if (!transformer_->generates()) {
    return absl::InvalidArgumentError("the model has no decoder");
  }
  parts.scored_prompt = TakePrompt(parts);
  if (transformer_->encodes()) {
    parts.scored_prompt = {info_.generation.decoder_start_id};
  }
  RETURN_IF_ERROR(ValidateTarget(task.target, task.top_log_probs,
                                 static_cast<int>(parts.scored_prompt.size()),
                                 limits_));
  parts.max_hypotheses = 1;
  parts.scored_prompt.insert(parts.scored_prompt.end(), task.target.begin(),
                             task.target.end() - 1);
  parts.max_target_tokens = static_cast<int>(parts.scored_prompt.size());
  parts.scorer =
      std::make_unique<Scorer>(std::move(task.target), task.top_log_probs);
  return absl::OkStatus();
}

absl::Status TransformerEngine::CheckBlocks(const TransformerSequence& sequence,
                                            int source_tokens) const {
  if (sequence.max_blocks() <= pool_blocks_) return absl::OkStatus();
  const int fit = sequence.SourceTokensThatFit(source_tokens, pool_blocks_);
  return absl::InvalidArgumentError(absl::StrFormat(
      "source has %d tokens, %s would fit with as many new ones: the request "
      "needs up to %d KV blocks, the pool has %d (kv_cache_bytes); fewer "
      "beams, "
      "samples or new tokens need less",
      source_tokens, fit < 1 ? "none" : absl::StrCat(fit),
      sequence.max_blocks(), pool_blocks_));
}

absl::StatusOr<std::unique_ptr<Sequence>> TransformerEngine::NewSequence(
    EngineRequest request) const {
  RETURN_IF_ERROR(CheckSource(request.source));
  const int source_tokens = static_cast<int>(request.source.ids.size());
  TransformerSequence::Parts parts;
  parts.source = std::move(request.source);
  if (parts.source.positions.empty()) {
    parts.source.positions.resize(parts.source.ids.size());
    std::iota(parts.source.positions.begin(), parts.source.positions.end(), 0);
  }
  parts.table_positions = TablePositions(parts.source);
  RETURN_IF_ERROR(std::visit([&](auto& task) { return MakeParts(task, parts); },
                             request.task));
  parts.prefix_cache = options_.prefix_cache;
  auto sequence = std::make_unique<TransformerSequence>(
      *transformer_, kv_layout_.block_tokens, std::move(parts));
  RETURN_IF_ERROR(CheckBlocks(*sequence, source_tokens));
  return sequence;
}

}  // namespace attend
