#ifndef ATTEND_ENGINE_DECODING_SEARCH_H_
#define ATTEND_ENGINE_DECODING_SEARCH_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/api/output.h"
#include "engine/decoding/search_input.h"
#include "engine/ops/logits/logits_view.h"

namespace attend {

// The search of one request: turns the logits of the live hypotheses into their
// next tokens, as generate() of transformers does for a batch of one. All
// memory is reserved at construction: Advance() allocates nothing. Not
// thread-safe. Different searches may run on different threads.
class Search {
 public:
  virtual ~Search() = default;

  // The number of live hypotheses, which is the number of rows of the next
  // step. 1 before the first Advance(), 0 when the search has ended.
  virtual int rows() const = 0;
  // The decoder tokens of a live hypothesis: prompt, generated tokens. The row
  // of the last token has not been computed yet.
  virtual absl::Span<const int> tokens(int row) const = 0;

  // What Advance() will ask of the logits of each row.
  virtual absl::Span<const LogitsNeed> needs() const = 0;
  // Takes the raw logits that follow each live hypothesis, in row order.
  virtual void Advance(absl::Span<const LogitsView> logits) = 0;
  // For each live hypothesis, the row (before the last Advance()) that it
  // continues.
  virtual absl::Span<const int> parents() const = 0;

  // What Advance() will ask of the rows of drafted tokens, if there is one live
  // hypothesis whose next tokens may be drafted (see PromptLookup): one
  // Advance() a row, as long as the tokens that it chooses are those of the
  // draft. nullopt: a draft is of no use.
  virtual std::optional<LogitsNeed> draft_need() const { return std::nullopt; }

  // Whether the next Advance() needs a Prepare() before it, which finds out
  // what a constraint lets follow. needs() may point to what Prepare() fills.
  virtual bool waiting() const = 0;
  virtual void Prepare() = 0;
  // OK, or why the search cannot go on: its constraint cannot be held. Then the
  // search is at its end, and its output is what it had before.
  virtual absl::Status status() const = 0;

  virtual const SequenceOutput& output() const = 0;
  // Adds the log-probabilities of the prompt, made by a Scorer, to the output.
  // To be called before the first Advance(), if prompt_log_probs is set.
  virtual void SetPrompt(ChoiceOutput prompt) = 0;
  // Moves the output out. To be called once, when the search has ended.
  virtual SequenceOutput TakeOutput() = 0;
};

std::unique_ptr<Search> MakeSearch(const SearchInput& input);

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_SEARCH_H_
