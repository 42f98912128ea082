#ifndef ATTEND_ENGINE_DECODING_SEARCH_H_
#define ATTEND_ENGINE_DECODING_SEARCH_H_

#include <memory>
#include <string>

#include "absl/types/span.h"
#include "engine/api/generation_params.h"
#include "engine/api/output.h"
#include "engine/ops/logits/logits_view.h"

namespace attend {

// The search of one request: turns the logits of its live hypotheses into
// their next tokens. Semantics of transformers' generate for a batch of one.
// All memory is reserved at construction; Advance() allocates nothing. Not
// thread-safe; different searches may run on different threads.
class Search {
 public:
  virtual ~Search() = default;

  // Live hypotheses: rows of the next step. 1 before the first Advance(), 0
  // when finished.
  virtual int rows() const = 0;
  // Decoder tokens of a live hypothesis: start, forced prefix, generated. The
  // last one has not been computed yet.
  virtual absl::Span<const int> tokens(int row) const = 0;

  // What Advance() will ask of the logits of each row.
  virtual absl::Span<const LogitsNeed> needs() const = 0;
  // Takes the raw logits that follow each live hypothesis, in row order.
  virtual void Advance(absl::Span<const LogitsView> logits) = 0;
  // For each row now live, the row before Advance() that it continues.
  virtual absl::Span<const int> parents() const = 0;

  virtual const SequenceOutput& output() const = 0;
  // What a Scorer made of the prompt (decoder start and prefix) becomes part of
  // the output. Before the first Advance(), where prompt_log_probs asks for it.
  virtual void SetPrompt(ChoiceOutput prompt) = 0;
};

// `params` must have been validated (see ValidateParams) and is copied.
// `token_texts` (what each target id adds to running text; needed for stop
// strings only) must outlive the search. `vocab` is the width of the logits.
std::unique_ptr<Search> MakeSearch(const GenerationParams& params, int vocab,
                                   absl::Span<const std::string> token_texts);

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_SEARCH_H_
