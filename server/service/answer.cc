#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/encode_within.h"
#include "server/service/answer_spans.h"
#include "server/service/batch_handler.h"
#include "server/service/methods.h"
#include "server/service/question_windows.h"
#include "server/service/request_fields.h"
#include "server/service/tasks.h"
#include "server/service/work_pool.h"

namespace attend {
namespace {

constexpr int kMaxTopAnswers = 100;
constexpr int kDefaultAnswerTokens = 15;
constexpr int kMaxAnswerTokens = 1000;
constexpr int kDefaultWindowTokens = 384;
constexpr int kDefaultOverlap = 128;
constexpr size_t kMaxContextBytes = kMinCutLimit;

absl::Status CheckRange(const char* field, int value, int least, int most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s is %d, must be in [%d, %d]", field, value, least, most));
}

// A question that was read, or why it could not be.
struct ReadQuestion {
  absl::StatusOr<QuestionWindows> windows;
  int first = 0;  // its first input
};

// Answer: spans of texts that answer questions. The inputs are the windows of
// all texts; each question has a result.
class AnswerHandler final
    : public BatchHandler<v1::AnswerRequest, v1::AnswerResponse> {
 public:
  using BatchHandler::BatchHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::AnswerRequest& request) override {
    if (questions_.empty()) RETURN_IF_ERROR(Check(request));
    size_t bytes = 0;
    while (static_cast<int>(questions_.size()) < request.questions_size()) {
      if (bytes >= kShortWork) return kMore;
      ASSIGN_OR_RETURN(const size_t read, Read(request));
      bytes += read;
    }
    std::vector<int> ends;
    ends.reserve(questions_.size());
    for (size_t i = 1; i < questions_.size(); ++i) {
      ends.push_back(questions_[i].first);
    }
    ends.push_back(inputs_so_far_);
    SetGroups(std::move(ends));
    return inputs_so_far_;
  }

  absl::Status Check(const v1::AnswerRequest& request) {
    RETURN_IF_ERROR(CheckTask(info(), {v1::TASK_ANSWER}));
    RETURN_IF_ERROR(
        service().CheckManyInputs("questions", request.questions_size()));
    RETURN_IF_ERROR(CheckRange("top_k", request.top_k(), 0, kMaxTopAnswers));
    RETURN_IF_ERROR(CheckRange("max_answer_tokens", request.max_answer_tokens(),
                               0, kMaxAnswerTokens));
    RETURN_IF_ERROR(CheckRange("max_window_tokens", request.max_window_tokens(),
                               0, info().max_text_tokens));
    const int tokens = request.max_window_tokens();
    size_.tokens = tokens > 0
                       ? tokens
                       : std::min(kDefaultWindowTokens, info().max_text_tokens);
    size_.overlap = std::min(size_.tokens / 2, kDefaultOverlap);
    if (request.has_window_overlap()) {
      RETURN_IF_ERROR(CheckRange("window_overlap", request.window_overlap(), 0,
                                 size_.tokens - 1));
      size_.overlap = request.window_overlap();
    }
    if (request.top_k() > 0) options_.top = request.top_k();
    options_.max_tokens = request.max_answer_tokens() > 0
                              ? request.max_answer_tokens()
                              : kDefaultAnswerTokens;
    options_.allow_none = request.allow_no_answer();
    options_.split_words = request.split_words();
    questions_.reserve(request.questions_size());
    contexts_.reserve(request.questions_size());
    return absl::OkStatus();
  }

  // Reads the next question, and returns about how many bytes that was.
  absl::StatusOr<size_t> Read(const v1::AnswerRequest& request) {
    RETURN_IF_ERROR(context().CheckStart());
    const int index = static_cast<int>(questions_.size());
    const v1::Question& question = request.questions(index);
    ReadQuestion read = {.windows = ReadWindows(question, index),
                         .first = inputs_so_far_};
    // A question that could not be read has one input, which fails.
    inputs_so_far_ += read.windows.ok() ? read.windows->size() : 1;
    questions_.push_back(std::move(read));
    contexts_.push_back(question.context());
    RETURN_IF_ERROR(
        service().CheckManyInputs("windows of questions", inputs_so_far_));
    return question.question().size() + question.context().size();
  }

  absl::StatusOr<QuestionWindows> ReadWindows(const v1::Question& question,
                                              int index) const {
    const std::string field = absl::StrFormat("questions[%d]", index);
    RETURN_IF_ERROR(CheckTextBytes(field + ".question",
                                   question.question().size(), size_.tokens,
                                   tokenizer()));
    if (question.context().size() > kMaxContextBytes) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s.context has %d bytes, limit is %d", field,
                          question.context().size(), kMaxContextBytes));
    }
    return QuestionWindows::Create(question.question(), question.context(),
                                   size_, tokenizer(), field);
  }

  int QuestionOf(int input) const {
    const auto next = std::upper_bound(
        questions_.begin(), questions_.end(), input,
        [](int i, const ReadQuestion& question) { return i < question.first; });
    return static_cast<int>(next - questions_.begin()) - 1;
  }

  absl::Status Submit(const v1::AnswerRequest& request, int index,
                      InputState&) override {
    const int number = QuestionOf(index);
    const ReadQuestion& question = questions_[number];
    RETURN_IF_ERROR(question.windows.status());
    const int window = index - question.first;
    const int tokens = question.windows->CountTokens(window);
    const bool types = info().token_types >= 2 && tokenizer().has_token_types();
    return Enqueue(
        index,
        {.request = {question.windows->Tokens(window, types), ClassifyTask{}},
         .facts = {.source_tokens = tokens},
         .limits = {.choices = 0, .values = static_cast<size_t>(2 * tokens)},
         .priority = request.priority()},
        absl::StrFormat("questions[%d]", number));
  }

  void Fill(int index, v1::AnswerResult& result) override {
    const InputRange range = inputs_of(index);
    AnswerSpans spans(options_, *questions_[index].windows, contexts_[index]);
    for (int i = range.begin; i < range.end; ++i) {
      spans.Add(i - range.begin, input(i).output().values);
    }
    spans.AddTo(result.mutable_answers());
  }

  WindowSize size_;
  AnswerOptions options_;
  int inputs_so_far_ = 0;
  std::vector<ReadQuestion> questions_;
  std::vector<std::string> contexts_;
};

}  // namespace

std::unique_ptr<Handler> NewAnswerHandler(const Service& service,
                                          CallContext& context) {
  return std::make_unique<AnswerHandler>(service, context);
}

}  // namespace attend
