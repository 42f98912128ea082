// NewSequence(): checks requests against the model, and makes their state.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/api/generation_limits.h"
#include "engine/decoding/scorer.h"
#include "engine/decoding/search.h"
#include "engine/runtime/aligned_generation.h"
#include "engine/runtime/generation.h"
#include "engine/runtime/head_task.h"
#include "engine/runtime/pooled_prompt.h"
#include "engine/runtime/transformer_engine.h"
#include "engine/runtime/validate_input.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

const std::vector<int>& IdsOf(const EngineInput& input) {
  return std::visit(
      [](const auto& tokens) -> const std::vector<int>& { return tokens.ids; },
      input);
}

int TokensOf(const EngineInput& input) {
  return static_cast<int>(IdsOf(input).size());
}

// The decoder's first tokens: the prompt, or the decoder start.
std::vector<int> FirstTokens(const EngineInput& input, int decoder_start_id) {
  const auto* prompt = std::get_if<Prompt>(&input);
  return prompt != nullptr ? prompt->ids : std::vector<int>{decoder_start_id};
}

// Leaves out the tokens `padding` at the end; of nothing else, all but one.
void DropPadding(int padding, std::vector<int>& tokens) {
  while (tokens.size() > 1 && tokens.back() == padding) tokens.pop_back();
}

}  // namespace

std::unique_ptr<PromptLookup> TransformerEngine::MakeLookup(
    const Search& search, const EngineInput& input) const {
  if (!options_.prompt_lookup || !search.draft_need()) return nullptr;
  const auto* source = std::get_if<SourceTokens>(&input);
  return std::make_unique<PromptLookup>(source != nullptr ? source->ids
                                                          : std::vector<int>());
}

std::unique_ptr<ModelDraft> TransformerEngine::MakeDraft(
    const Search& search, const EngineRequest& request, int tokens) const {
  if (draft_ == nullptr || !search.draft_need()) return nullptr;
  return draft_->NewDraft(request.input, tokens, request.cache_salt);
}

std::vector<int> TransformerEngine::ListedTokens(
    const GenerationParams& params, const EngineInput& input) const {
  if (shortlist_ == nullptr) return {};
  return shortlist_->Find(std::get<SourceTokens>(input).ids, params);
}

template <class Task>
absl::StatusOr<TransformerSequence::Outcome> TransformerEngine::MakeOutcome(
    const Task& task, const EngineRequest& request) const {
  const TransformerSpec& spec = transformer_->spec();
  if (transformer_->encodes()) {
    return EncoderTask::Create(task, spec, TokensOf(request.input));
  }
  if (transformer_->generates()) {
    return absl::InvalidArgumentError("the model has no encoder");
  }
  std::vector<int> tokens = IdsOf(request.input);
  if (std::is_same_v<Task, ClassifyTask> && spec.head) {
    DropPadding(spec.head->padding_id, tokens);
  }
  const int count = static_cast<int>(tokens.size());
  ASSIGN_OR_RETURN(std::unique_ptr<EncoderTask> result,
                   EncoderTask::Create(task, spec, count));
  return MakeRows(std::make_unique<PooledPrompt>(
                      std::move(tokens), std::move(result), spec.hidden),
                  /*max_hypotheses=*/1, count, request.cache_salt);
}

int TransformerEngine::FirstTokenOf(const HeadSpec& head,
                                    const std::vector<int>& source) const {
  if (head.wraps_source) return source.back();
  return head.first_id >= 0 ? head.first_id : info_.generation.decoder_start_id;
}

absl::StatusOr<TransformerSequence::Outcome> TransformerEngine::MakeOutcome(
    const ClassifyTask& task, const EngineRequest& request) const {
  if (!HeadReadsDecoder()) return MakeOutcome<ClassifyTask>(task, request);
  const std::vector<int>& source = std::get<SourceTokens>(request.input).ids;
  const HeadSpec& head = *transformer_->spec().head;
  const bool each = ReadsTokens(head.kind);
  auto last = source.end() - 1;
  if (head.reads_end) {
    const std::vector<int>& ends = info_.generation.eos_ids;
    const auto end = std::find_first_of(source.rbegin(), source.rend(),
                                        ends.begin(), ends.end());
    if (end == source.rend()) {
      return absl::InvalidArgumentError(
          "the source has no end of sequence, which the head reads");
    }
    last = end.base() - 1;
  }
  // The token of each row comes before that of the source. Rows after the last
  // that the head reads change nothing.
  std::vector<int> tokens = {FirstTokenOf(head, source)};
  tokens.insert(tokens.end(), source.begin(), last);
  const int computed = static_cast<int>(tokens.size());
  return MakeRows(
      std::make_unique<HeadTask>(std::move(tokens), head.layers.back().out,
                                 /*rows=*/each ? computed : 1),
      /*max_hypotheses=*/1, computed, request.cache_salt);
}

absl::StatusOr<TransformerSequence::Outcome> TransformerEngine::MakeOutcome(
    const GenerateTask& task, const EngineRequest& request) const {
  RETURN_IF_ERROR(CheckGenerates());
  const GenerationParams& params = task.params;
  const EngineInput& input = request.input;
  std::vector<int> prompt = FirstTokens(input, params.decoder_start_id);
  RETURN_IF_ERROR(
      ValidateParams(params, static_cast<int>(prompt.size()), limits_));
  if (params.prompt_log_probs && transformer_->encodes()) {
    return absl::InvalidArgumentError(
        "prompt_log_probs is set, but the model does not continue its source");
  }
  prompt.insert(prompt.end(), params.forced_prefix.begin(),
                params.forced_prefix.end());
  if (params.alignments) {
    RETURN_IF_ERROR(CheckAlignments(params.num_return_sequences,
                                    params.max_new_tokens, input));
  }
  const std::vector<int>& source = IdsOf(input);
  std::unique_ptr<Search> search =
      MakeSearch({.params = params,
                  .prompt = prompt,
                  .vocab = limits_.vocab,
                  .token_texts = &token_texts_,
                  .source_ngram_size = source_ngram_size_,
                  .source = source});
  RETURN_IF_ERROR(search->status());
  std::unique_ptr<Scorer> scorer;
  if (params.prompt_log_probs && prompt.size() > 1) {
    scorer = std::make_unique<Scorer>(
        std::vector<int>(prompt.begin() + 1, prompt.end()),
        params.top_log_probs);
  }
  // The row of the last new token is never computed.
  const int computed =
      static_cast<int>(prompt.size()) - 1 + params.max_new_tokens;
  Drafts drafts(MakeLookup(*search, input),
                MakeDraft(*search, request, computed));
  std::unique_ptr<DecoderTask> generation;
  if (params.alignments) {
    generation = std::make_unique<AlignedGeneration>(
        std::move(search), std::move(drafts), ListedTokens(params, input),
        std::move(prompt), params.max_new_tokens, TokensOf(input));
  } else {
    generation = std::make_unique<Generation>(
        std::move(search), std::move(scorer), std::move(drafts),
        ListedTokens(params, input));
  }
  return MakeRows(std::move(generation),
                  std::max(params.num_beams, params.num_return_sequences),
                  computed, request.cache_salt);
}

absl::StatusOr<TransformerSequence::Outcome> TransformerEngine::MakeOutcome(
    ScoreTask& task, const EngineRequest& request) const {
  RETURN_IF_ERROR(CheckGenerates());
  const EngineInput& input = request.input;
  const int start =
      task.decoder_start_id.value_or(info_.generation.decoder_start_id);
  if (task.decoder_start_id && (start < 0 || start >= limits_.vocab)) {
    return absl::InvalidArgumentError(absl::StrCat("decoder_start_id is ",
                                                   start, ", must be in [0, ",
                                                   limits_.vocab, ")"));
  }
  std::vector<int> tokens = FirstTokens(input, start);
  RETURN_IF_ERROR(ValidateTarget(task.target, task.top_log_probs,
                                 static_cast<int>(tokens.size()), limits_));
  if (task.alignments) {
    RETURN_IF_ERROR(
        CheckAlignments(1, static_cast<int>(task.target.size()), input));
  }
  tokens.insert(tokens.end(), task.target.begin(), task.target.end() - 1);
  const int computed = static_cast<int>(tokens.size());
  return MakeRows(
      std::make_unique<Scoring>(
          std::move(tokens), Scorer(std::move(task.target), task.top_log_probs),
          task.alignments ? TokensOf(input) : 0),
      /*max_hypotheses=*/1, computed, request.cache_salt);
}

absl::Status TransformerEngine::CheckGenerates() const {
  if (info_.generates) return absl::OkStatus();
  return absl::InvalidArgumentError(
      transformer_->decodes() && !transformer_->encodes()
          ? "the model's decoder does not generate"
          : "the model has no decoder");
}

absl::Status TransformerEngine::CheckAdapter(int adapter) const {
  const auto& adapters = transformer_->spec().adapters;
  const int count = adapters ? adapters->count : 0;
  if (adapter >= -1 && adapter < count) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "adapter is %d, limits are -1 and %d", adapter, count - 1));
}

absl::Status TransformerEngine::CheckAlignments(
    int results, int tokens, const EngineInput& input) const {
  if (!transformer_->encodes()) {
    return absl::InvalidArgumentError(
        "alignments are asked for, but the model has no encoder");
  }
  const int64_t source = TokensOf(input);
  const int64_t numbers = source * results * tokens;
  if (numbers <= kMaxAlignmentNumbers) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "alignments of %d results of up to %d tokens with %d source tokens are "
      "%d numbers, limit is %d",
      results, tokens, source, numbers, kMaxAlignmentNumbers));
}

std::unique_ptr<DecoderRows> TransformerEngine::MakeRows(
    std::unique_ptr<DecoderTask> task, int max_hypotheses, int max_tokens,
    uint64_t cache_salt) const {
  return std::make_unique<DecoderRows>(
      std::move(task),
      DecoderRows::Options{
          .block_tokens = kv_layout_.block_tokens,
          .max_hypotheses = max_hypotheses,
          .max_tokens = max_tokens,
          // With an encoder, keys and values depend on the source too.
          .shares = options_.prefix_cache && !transformer_->encodes(),
          .salt = cache_salt,
          .by_length = transformer_->spec().decoder->RotaryByLength()});
}

absl::Status TransformerEngine::CheckBlocks(const TransformerSequence& sequence,
                                            int tokens) const {
  if (sequence.max_blocks() <= pool_blocks_) return absl::OkStatus();
  const int fit = sequence.TokensThatFit(tokens, pool_blocks_);
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s has %d tokens, %s would fit with as many new tokens: the request "
      "needs up to %d KV blocks, the pool has %d (kv_cache_bytes); fewer "
      "beams, "
      "samples or new tokens need less",
      transformer_->encodes() ? "source" : "prompt", tokens,
      fit < 1 ? "none" : absl::StrCat(fit), sequence.max_blocks(),
      pool_blocks_));
}

absl::StatusOr<std::unique_ptr<Sequence>> TransformerEngine::NewSequence(
    EngineRequest request) const {
  RETURN_IF_ERROR(ValidateInput(request.input, info_, transformer_->spec()));
  RETURN_IF_ERROR(CheckAdapter(request.adapter));
  request.cache_salt = SaltOf(request);
  const int tokens = TokensOf(request.input);
  ASSIGN_OR_RETURN(
      TransformerSequence::Outcome outcome,
      std::visit([&](auto& task) { return MakeOutcome(task, request); },
                 request.task));
  std::unique_ptr<SourceEncode> source;
  auto* const given = std::get_if<SourceTokens>(&request.input);
  if (given != nullptr && transformer_->encodes()) {
    source = SourceEncode::Make(
        *transformer_, std::move(*given),
        {.block_tokens = kv_layout_.block_tokens,
         .for_decoder =
             std::holds_alternative<std::unique_ptr<DecoderRows>>(outcome),
         .shares = options_.prefix_cache,
         .salt = request.cache_salt,
         .adapter = request.adapter});
  }
  auto sequence = std::make_unique<TransformerSequence>(std::move(source),
                                                        std::move(outcome));
  RETURN_IF_ERROR(CheckBlocks(*sequence, tokens));
  return sequence;
}

}  // namespace attend
