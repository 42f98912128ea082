#ifndef ATTEND_ENGINE_RUNTIME_DRAFT_TASK_H_
#define ATTEND_ENGINE_RUNTIME_DRAFT_TASK_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "engine/runtime/decoder_task.h"

namespace attend {

// Continues a text that grows elsewhere: a draft model's decoder rows. Its
// tokens are the text, then those that it has chosen since by greedy search.
class DraftTask final : public DecoderTask {
 public:
  // The text never has more than `max_tokens` tokens. Ids from `vocab` on are
  // unknown to one of the two models.
  DraftTask(int max_tokens, int vocab);

  // `text` is what the last text was, and more. Returns how many of the tokens
  // so far it begins with; all others are dropped.
  int Follow(absl::Span<const int> text);
  // The text's last token, and the tokens that were chosen since.
  absl::Span<const int> continuation() const {
    return absl::MakeConstSpan(tokens_).subspan(text_ - 1);
  }
  // False: the text has an unknown id, or such an id was chosen last. Then
  // nothing may be computed before the next Follow().
  bool known() const { return known_; }

  int hypotheses() const override { return 1; }
  absl::Span<const int> tokens(int) const override { return tokens_; }
  // While nothing is chosen, all of the text: the row of its last token belongs
  // to the prompt, so that it needs no step of its own.
  absl::Span<const int> prompt(int) const override {
    return absl::MakeConstSpan(tokens_).first(tokens_.size() -
                                              (tentative() ? 1 : 0));
  }
  int unscored() const override { return tentative() ? 0 : 1; }
  bool tentative() const override {
    return static_cast<int>(tokens_.size()) > text_;
  }
  LogitsNeed need(int) const override { return {.top = 1}; }
  void Take(absl::Span<const LogitsView> logits) override;
  std::optional<absl::Span<const int>> parents() const override {
    return absl::MakeConstSpan(&kSelf, 1);
  }
  const SequenceOutput& output() const override { return output_; }

 private:
  static constexpr int kSelf = 0;

  const int vocab_;
  std::vector<int> tokens_;
  int text_ = 0;                 // tokens of the text
  bool known_ = true;            // see known()
  bool readable_ = true;         // the text has no unknown id
  const SequenceOutput output_;  // never finished
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_DRAFT_TASK_H_
