#ifndef ATTEND_SERVER_SERVICE_CHOICE_TEXT_H_
#define ATTEND_SERVER_SERVICE_CHOICE_TEXT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/api/thought.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// Makes the text of one result while the tokens of the result are computed. A
// returned text never ends inside a character, and never holds a stop string or
// the beginning of a stop string, except in the thought. All returned texts
// together end before the first stop string after the thought, which may
// contain the spellings of special tokens: these are seen in their places, but
// never returned, except those of the thought's marks. Not thread-safe.
class ChoiceText {
 public:
  // `before`: the ids that the result continues. `tokenizer`, `stop_strings`
  // and `thought` must outlive the ChoiceText.
  ChoiceText(const Tokenizer& tokenizer,
             const std::vector<std::string>& stop_strings,
             absl::Span<const int> before, const Thought& thought = NoThought())
      : tokenizer_(tokenizer),
        decoder_(tokenizer.NewStream(before)),
        stop_strings_(stop_strings),
        reader_(thought) {}

  // Takes the next id. Returns the text that later ids cannot change any more;
  // the text may be empty.
  std::string Append(int id);
  // The text that was held back. Called once, after the last id.
  std::string Flush() { return Release(decoder_->Flush(), true); }

 private:
  // The spelling of a special token, held at an offset of held_.
  struct Special {
    size_t at;
    std::string spelling;
  };

  static const Thought& NoThought();
  std::string Release(absl::string_view text, bool last);
  // The same for a text that is no thought.
  std::string ReleaseAnswer(absl::string_view text, bool last);
  struct Match {
    size_t first = std::string::npos;  // offset of the first stop string
    size_t held = 0;  // bytes at the end that may be the beginning of one
  };
  Match Find(absl::string_view text) const;
  // Finds stop strings in `text` with the spellings of special_ in their
  // places; offsets and sizes are those of `text` alone. Removes the special
  // tokens that no later match can contain.
  Match FindSpelled(absl::string_view text);

  const Tokenizer& tokenizer_;
  std::unique_ptr<StreamDecoder> decoder_;
  const std::vector<std::string>& stop_strings_;
  std::string held_;              // perhaps the beginning of a stop string
  std::vector<Special> special_;  // in and after held_
  bool stopped_ = false;          // a stop string has come up
  ThoughtReader reader_;
  std::string unsearched_;  // perhaps the beginning of a thought
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_CHOICE_TEXT_H_
