#ifndef ATTEND_ENGINE_RUNTIME_ALIGNED_GENERATION_H_
#define ATTEND_ENGINE_RUNTIME_ALIGNED_GENERATION_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/api/output.h"
#include "engine/decoding/search.h"
#include "engine/runtime/generation.h"

namespace attend {

// Generates tokens by a search, and then aligns each result with the source:
// the result's rows are computed once more, as a prompt, for their attention
// weights. A search keeps no weights, because most hypotheses are dropped. The
// memory of an alignment is taken when the length of the result is known: room
// for the longest results would be many times as large.
class AlignedGeneration final : public Generation {
 public:
  // `prompt` are the decoder tokens that the results continue.
  AlignedGeneration(std::unique_ptr<Search> search, Drafts drafts,
                    std::vector<int> listed, std::vector<int> prompt,
                    int max_new_tokens, int source_tokens);

  int hypotheses() const override {
    return aligns() ? 1 : Generation::hypotheses();
  }
  absl::Span<const int> tokens(int hypothesis) const override {
    return aligns() ? tokens_ : Generation::tokens(hypothesis);
  }
  absl::Span<const int> prompt(int hypothesis) const override {
    return aligns() ? tokens_ : Generation::prompt(hypothesis);
  }
  // The logits of a result's last row are of no use; that they come shows that
  // all rows of the result are computed.
  int unscored() const override { return aligns() ? 1 : 0; }
  LogitsNeed need(int row) const override;
  void Take(absl::Span<const LogitsView> logits) override;
  std::optional<absl::Span<const int>> parents() const override;
  float* weights_of(int token) override;
  absl::StatusOr<bool> Restart() override;
  const SequenceOutput& output() const override {
    return aligns() ? output_ : Generation::output();
  }

 private:
  bool aligns() const { return choice_ >= 0; }
  ChoiceOutput& choice() { return output_.choices[choice_]; }
  // Goes on to the next result that has tokens; after the last, finishes.
  void BeginNext();

  const int prompt_size_;
  const int source_tokens_;
  std::vector<int> tokens_;  // prompt, then the result without its last token
  int choice_ = -1;          // the result that is aligned; -1: the search runs
  bool computed_ = false;    // all rows of that result
  SequenceOutput output_;    // of the search, once that has ended
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_ALIGNED_GENERATION_H_
