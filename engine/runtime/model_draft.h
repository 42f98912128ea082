#ifndef ATTEND_ENGINE_RUNTIME_MODEL_DRAFT_H_
#define ATTEND_ENGINE_RUNTIME_MODEL_DRAFT_H_

#include <memory>

#include "absl/types/span.h"
#include "engine/api/engine.h"
#include "engine/decoding/draft_pace.h"
#include "engine/runtime/draft_task.h"
#include "engine/runtime/source_encode.h"
#include "engine/runtime/transformer_sequence.h"

namespace attend {

// What a draft model has computed of one sequence, and the draft that it makes
// for the next step (speculative decoding: Leviathan et al. 2023). The model
// reads what it has not seen yet only when a draft is wanted. All memory but
// that of the Drafter's context is reserved at construction. Not thread-safe.
class ModelDraft {
 public:
  struct Options {
    int max_tokens = 0;   // rows of the longest text; no draft is made beyond
    int vocab = 0;        // ids that both models have
    bool shares = false;  // see DecoderRows::Options
    uint64_t salt = 0;    // likewise
    // The time of a row of the draft model, for one of the other model.
    float cost = 0;
  };
  // `source` is null if the model has no encoder.
  ModelDraft(std::unique_ptr<SourceEncode> source, const Options& options);

  // Says how many tokens are to be drafted after `text`; they may become fewer.
  int Want(absl::Span<const int> text, const DraftLimits& limits);
  // The draft model's next work for this draft: encode, prompt, or one row at a
  // time. kDone: no more is wanted, or none is possible.
  Work Next() const;
  TransformerSequence& sequence() { return sequence_; }
  // The last token, then those that were drafted; empty if none were wanted.
  // Valid until the next Want().
  absl::Span<const int> Drafted() const;
  // The first `accepted` of the tokens that were drafted did follow.
  void Learn(int accepted);

  // Gives all memory of the context back. What is dropped is computed again
  // when it is wanted.
  void Clear();

 private:
  ModelDraft(std::unique_ptr<SourceEncode> source,
             std::unique_ptr<DraftTask> task, const Options& options);

  const Options options_;
  DraftTask& task_;  // of sequence_
  TransformerSequence sequence_;
  DraftPace pace_;
  bool begun_ = false;  // Want() was called
  int wanted_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_MODEL_DRAFT_H_
