#ifndef ATTEND_SERVER_OPENAI_THOUGHT_SPLITTER_H_
#define ATTEND_SERVER_OPENAI_THOUGHT_SPLITTER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "engine/api/thought.h"

namespace attend {

// Takes the text of one choice apart while it grows: into what the model thinks
// and what it answers. The marks between them belong to neither, nor does the
// white space around them. Not thread-safe.
class ThoughtSplitter {
 public:
  // `thought` must outlive the splitter.
  explicit ThoughtSplitter(const Thought& thought) : reader_(thought) {}

  struct Parts {
    std::string reasoning, answer;
  };
  // Takes the next text; `last`: there will be no more. Text that may be the
  // beginning of a mark is held back. A thought that has not ended is
  // reasoning.
  Parts Append(absl::string_view text, bool last);

 private:
  // Moves what is certainly reasoning out of held_: all but white space at its
  // end, and the last `mark` bytes.
  std::string TakeReasoning(size_t mark);

  ThoughtReader reader_;
  std::string held_;
  bool reasons_ = false;  // reasoning has begun
  bool answers_ = false;  // an answer has begun
};

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_THOUGHT_SPLITTER_H_
