#ifndef ATTEND_ENGINE_RUNTIME_TRANSFORMER_ENGINE_H_
#define ATTEND_ENGINE_RUNTIME_TRANSFORMER_ENGINE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/api/engine.h"
#include "engine/compute/compute.h"
#include "engine/decoding/prompt_lookup.h"
#include "engine/decoding/search.h"
#include "engine/decoding/shortlist.h"
#include "engine/decoding/validate_params.h"
#include "engine/decoding/vocabulary_texts.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/runtime/draft_model.h"
#include "engine/runtime/engine_options.h"
#include "engine/runtime/transformer_sequence.h"
#include "engine/transformer/transformer.h"

namespace attend {

// An Engine that computes with a Transformer. In a step the encodes of all
// sequences are one ragged batch; all prompts and decode rows are another.
class TransformerEngine : public Engine {
 public:
  // What a model may have beside its transformer. Null: it has none.
  struct Beside {
    std::unique_ptr<const DraftModel> draft;  // drafts tokens
    // The transformer was then loaded for rows that list tokens.
    std::unique_ptr<const Shortlist> shortlist;
    // See SearchInput; of all results that are generated.
    int source_ngram_size = 0;
  };

  // `compute` must outlive the engine. token_texts [target vocab] has the text
  // that each target id adds to a result; read only if the model generates.
  // `info` has the name, family, labels, prompts, max_text_tokens and
  // generation defaults; all other fields are filled here. INVALID_ARGUMENT
  // names the option that is out of its limits.
  static absl::StatusOr<std::unique_ptr<TransformerEngine>> Create(
      Compute& compute, std::unique_ptr<Transformer> transformer,
      VocabularyTexts token_texts, ModelInfo info, const EngineOptions& options,
      Beside beside);

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<EngineContext> NewContext() const override;
  absl::StatusOr<std::unique_ptr<Sequence>> NewSequence(
      EngineRequest request) const override;

 private:
  TransformerEngine(Compute& compute, std::unique_ptr<Transformer> transformer,
                    VocabularyTexts token_texts, ModelInfo info,
                    const EngineOptions& options, Beside beside);

  // The decoder computes vectors for the head, and generates nothing.
  bool HeadReadsDecoder() const {
    const auto& head = transformer_->spec().head;
    return head && head->reads_decoder;
  }
  // The decoder's first token, if the head reads the decoder.
  int FirstTokenOf(const HeadSpec& head, const std::vector<int>& source) const;
  // The state of a task of `request`. INVALID_ARGUMENT if the model cannot do
  // the task, or a field of the task is out of its limits.
  template <class Task>  // of an encoder
  absl::StatusOr<TransformerSequence::Outcome> MakeOutcome(
      const Task& task, const EngineRequest& request) const;
  absl::StatusOr<TransformerSequence::Outcome> MakeOutcome(
      const ClassifyTask& task, const EngineRequest& request) const;
  absl::StatusOr<TransformerSequence::Outcome> MakeOutcome(
      const GenerateTask& task, const EngineRequest& request) const;
  absl::StatusOr<TransformerSequence::Outcome> MakeOutcome(
      ScoreTask& task, const EngineRequest& request) const;
  std::unique_ptr<DecoderRows> MakeRows(std::unique_ptr<DecoderTask> task,
                                        int max_hypotheses, int max_tokens,
                                        uint64_t cache_salt) const;
  // The tokens that results choose from; empty: all.
  std::vector<int> ListedTokens(const GenerationParams& params,
                                const EngineInput& input) const;
  // Null if nothing is to be drafted for that search.
  std::unique_ptr<PromptLookup> MakeLookup(const Search& search,
                                           const EngineInput& input) const;
  // Null if no draft model drafts for that search, whose longest text has
  // `tokens` rows.
  std::unique_ptr<ModelDraft> MakeDraft(const Search& search,
                                        const EngineRequest& request,
                                        int tokens) const;
  // INVALID_ARGUMENT if the model has no alignments, or if those of the results
  // may be too large; see kMaxAlignmentNumbers.
  absl::Status CheckGenerates() const;
  absl::Status CheckAdapter(int adapter) const;  // INVALID_ARGUMENT: no such
  absl::Status CheckAlignments(int results, int tokens,
                               const EngineInput& input) const;
  // INVALID_ARGUMENT if the sequence, whose input has `tokens` tokens, could
  // need more blocks than the pool has.
  absl::Status CheckBlocks(const TransformerSequence& sequence,
                           int tokens) const;

  Compute& compute_;
  const std::unique_ptr<Transformer> transformer_;
  const std::unique_ptr<const DraftModel> draft_;
  const VocabularyTexts token_texts_;  // [target vocab]
  ModelInfo info_;
  const EngineOptions options_;
  const std::unique_ptr<const Shortlist> shortlist_;  // null: none
  const int source_ngram_size_;
  const DecodingLimits limits_;
  const KvLayout kv_layout_;
  int pool_blocks_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_TRANSFORMER_ENGINE_H_
