#ifndef ATTEND_ENGINE_GRAMMAR_AFTER_THOUGHT_H_
#define ATTEND_ENGINE_GRAMMAR_AFTER_THOUGHT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/api/constraint.h"
#include "engine/api/thought.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// A constraint that begins after the thought of a text. Inside of the thought
// all tokens that have a text are allowed, but none that ends the thought and
// adds more than white space; special tokens are allowed in the marks. A text
// without a thought has to be what the inner constraint allows. Immutable; any
// thread may use it.
class AfterThought final : public Constraint,
                           public std::enable_shared_from_this<AfterThought> {
 public:
  // `thought` is possible. `tokenizer` must outlive the constraint; its ids
  // from `vocab` on are not used.
  AfterThought(std::shared_ptr<const Constraint> inner, Thought thought,
               const Tokenizer& tokenizer, int vocab);

  std::unique_ptr<ConstraintState> Begin() const override;

  // The functions below are for the states.
  const Constraint& inner() const { return *inner_; }
  const Thought& thought() const { return thought_; }
  // The text of a token that follows what `reader` has read.
  absl::string_view TextOf(int id, const ThoughtReader& reader) const {
    const absl::string_view spelling = reader.Spelling(id);
    return spelling.empty() ? tokenizer_.TokenText(id) : spelling;
  }
  int vocab() const { return vocab_; }
  // The token that is the end mark; -1 if there is none.
  int end_id() const { return end_id_; }
  // Tokens that may follow inside of the thought where no byte of the end mark
  // has been written: [MaskWords(vocab)].
  const std::vector<uint32_t>& inside() const { return inside_; }
  // Sets the bits of the tokens that may follow, by what `reader` has read.
  void SetAllowed(const ThoughtReader& reader, absl::Span<uint32_t> mask) const;

 private:
  const std::shared_ptr<const Constraint> inner_;
  const Thought thought_;
  const Tokenizer& tokenizer_;
  const int vocab_;
  int end_id_ = -1;
  std::vector<uint32_t> inside_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_GRAMMAR_AFTER_THOUGHT_H_
