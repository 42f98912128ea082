#ifndef ATTEND_SERVER_SERVICE_TEXT_WINDOWS_H_
#define ATTEND_SERVER_SERVICE_TEXT_WINDOWS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/api/engine.h"
#include "engine/tokenizer/text/encoding.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

struct WindowSize {
  int tokens = 0;   // of a window with all around it, special tokens included
  int overlap = 0;  // tokens of the text that neighbours share
};

// A long text as tokens, and the windows of the text that a model reads one
// after the other, as tokenizers of Hugging Face return overflowing tokens with
// a stride. Each window is [prefix, tokens of the text, suffix]: the prefix and
// the suffix are special tokens, or a question that all windows begin with.
class TextWindows {
 public:
  // Tokens [begin, end) of the whole encoding.
  struct Window {
    int begin = 0;
    int end = 0;
  };

  // The windows of the context of a question: what the question-answering
  // pipeline of transformers reads. INVALID_ARGUMENT, which names `field`, if a
  // text is not UTF-8 or has no token, or if the question leaves no room for
  // more of the context than the overlap.
  static absl::StatusOr<TextWindows> OfContext(absl::string_view question,
                                               absl::string_view context,
                                               WindowSize size,
                                               const Tokenizer& tokenizer,
                                               absl::string_view field);
  // The windows of a text: what the token-classification pipeline reads with a
  // stride. Where the tokenizer cuts texts at their begin, the last window is
  // full and the first one may be short. INVALID_ARGUMENT, which names `field`,
  // if the text is not UTF-8 or has no token at all, or if special tokens leave
  // no room for more of it than the overlap.
  static absl::StatusOr<TextWindows> OfText(absl::string_view text,
                                            WindowSize size, bool add_special,
                                            const Tokenizer& tokenizer,
                                            const std::string& field);

  int size() const { return static_cast<int>(windows_.size()); }
  const Window& window(int index) const { return windows_[index]; }
  // The source of a window. `types`: the model has token types.
  SourceTokens Tokens(int index, bool types) const;
  // The origins of its tokens in the whole text.
  std::vector<TokenOrigin> Origins(int index) const;
  int CountTokens(int index) const;
  // Tokens before those of the text, in each window.
  int prefix_tokens() const { return begin_; }
  // The first token stands for no text: it is the one whose vector stands for
  // the whole input.
  bool begins_with_special() const { return encoding_.origins[0].text < 0; }
  // The origin of a token of the whole encoding.
  const TokenOrigin& origin(int token) const {
    return encoding_.origins[token];
  }

 private:
  // `text`: the number of the text that is read in windows, 1 for a pair's
  // second.
  TextWindows(Encoding encoding, int text);
  bool empty() const { return begin_ >= end_; }
  int tokens() const { return static_cast<int>(encoding_.ids.size()); }
  // Tokens of the text that a window has room for.
  int Room(WindowSize size) const {
    return size.tokens - (tokens() - (end_ - begin_));
  }
  // Places the windows; false: there is not enough room.
  bool Place(WindowSize size, TruncationSide side);

  Encoding encoding_;
  int begin_ = 0;  // of the text
  int end_ = 0;
  std::vector<Window> windows_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_TEXT_WINDOWS_H_
