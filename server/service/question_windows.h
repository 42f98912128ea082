#ifndef ATTEND_SERVER_SERVICE_QUESTION_WINDOWS_H_
#define ATTEND_SERVER_SERVICE_QUESTION_WINDOWS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/api/engine.h"
#include "engine/tokenizer/text/encoding.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

struct WindowSize {
  int tokens = 0;   // of the question and a window, special tokens included
  int overlap = 0;  // tokens of the context that neighbours share
};

// A question and its context as tokens, and the windows of the context: what
// the question-answering pipeline of transformers reads one after the other.
// Each window is [question, tokens of the context, what follows].
class QuestionWindows {
 public:
  // Tokens [begin, end) of the whole encoding.
  struct Window {
    int begin = 0;
    int end = 0;
  };

  // INVALID_ARGUMENT, which names `field`, if a text is not UTF-8 or has no
  // token, or if the question leaves no room for more of the context than the
  // overlap.
  static absl::StatusOr<QuestionWindows> Create(absl::string_view question,
                                                absl::string_view context,
                                                WindowSize size,
                                                const Tokenizer& tokenizer,
                                                absl::string_view field);

  int size() const { return static_cast<int>(windows_.size()); }
  const Window& window(int index) const { return windows_[index]; }
  // The source of a window. `types`: the model has token types.
  SourceTokens Tokens(int index, bool types) const;
  int CountTokens(int index) const;
  // Row of the first token of the context, in each window.
  int question_tokens() const { return begin_; }
  // The first token stands for no text: it is the one whose vector stands for
  // the whole input.
  bool begins_with_special() const { return encoding_.origins[0].text < 0; }
  // The origin of a token of the whole encoding.
  const TokenOrigin& origin(int token) const {
    return encoding_.origins[token];
  }

 private:
  explicit QuestionWindows(Encoding encoding);
  // Places the windows; false: there is not enough room.
  bool Place(WindowSize size);

  Encoding encoding_;
  int begin_ = 0;  // of the context
  int end_ = 0;
  std::vector<Window> windows_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_QUESTION_WINDOWS_H_
