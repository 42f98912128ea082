#ifndef ATTEND_SERVER_SERVICE_ANSWER_SPANS_H_
#define ATTEND_SERVER_SERVICE_ANSWER_SPANS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "attend/v1/attend.pb.h"
#include "server/service/text_windows.h"

namespace attend {

struct AnswerOptions {
  int top = 1;
  int max_tokens = 15;  // of an answer
  bool allow_none = false;
  bool split_words = false;
};

// Finds the answers to one question, as the question-answering pipeline of
// transformers 4: the probability of a span is that of its first token among
// all begins of the window times that of its last token among all ends. Answers
// with the same text, in any case of ASCII letters, are one, whose score is the
// sum.
class AnswerSpans {
 public:
  // All arguments must outlive the AnswerSpans.
  AnswerSpans(const AnswerOptions& options, const TextWindows& windows,
              absl::string_view context)
      : options_(options), windows_(windows), context_(context) {}

  // Takes the logits [tokens of the window, begin and end].
  void Add(int window, absl::Span<const float> logits);
  // Adds the best answers, best first. To be called last.
  void AddTo(google::protobuf::RepeatedPtrField<v1::TextAnswer>* answers);

 private:
  struct Span {
    int begin = 0;  // tokens of the whole encoding
    int end = 0;    // the last one
    float score = 0;
  };
  // The best spans of a window, best first, from the probabilities of its
  // tokens of the context.
  std::vector<Span> BestSpans(const TextWindows::Window& window,
                              absl::Span<const float> begins,
                              absl::Span<const float> ends) const;
  // Adds a span to the answers.
  void Take(const TextWindows::Window& window, const Span& span);

  const AnswerOptions& options_;
  const TextWindows& windows_;
  const absl::string_view context_;
  std::vector<v1::TextAnswer> answers_;
  std::vector<std::string> keys_;  // their texts in lower case
  float none_ = 1;                 // the least score of "no answer"
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_ANSWER_SPANS_H_
