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
#include "server/service/request_fields.h"
#include "server/service/tasks.h"
#include "server/service/window_list.h"
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

// Answer: spans of texts that answer questions. The inputs are the windows of
// all texts; each question has a result.
class AnswerHandler final
    : public BatchHandler<v1::AnswerRequest, v1::AnswerResponse> {
 public:
  using BatchHandler::BatchHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::AnswerRequest& request) override {
    if (list_.texts() == 0) RETURN_IF_ERROR(Check(request));
    size_t bytes = 0;
    while (list_.texts() < request.questions_size()) {
      if (bytes >= kShortWork) return kMore;
      ASSIGN_OR_RETURN(const size_t read, Read(request));
      bytes += read;
    }
    SetGroups(list_.ends());
    return list_.inputs();
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
    contexts_.reserve(request.questions_size());
    return absl::OkStatus();
  }

  // Reads the next question, and returns about how many bytes that was.
  absl::StatusOr<size_t> Read(const v1::AnswerRequest& request) {
    RETURN_IF_ERROR(context().CheckStart());
    const int index = list_.texts();
    const v1::Question& question = request.questions(index);
    list_.Add(ReadWindows(question, index));
    contexts_.push_back(question.context());
    RETURN_IF_ERROR(
        service().CheckManyInputs("windows of questions", list_.inputs()));
    return question.question().size() + question.context().size();
  }

  absl::StatusOr<TextWindows> ReadWindows(const v1::Question& question,
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
    return TextWindows::OfContext(question.question(), question.context(),
                                  size_, tokenizer(), field);
  }

  absl::Status Submit(const v1::AnswerRequest& request, int index,
                      InputState&) override {
    const auto [number, window] = list_.At(index);
    const absl::StatusOr<TextWindows>& windows = list_.of(number);
    RETURN_IF_ERROR(windows.status());
    const int tokens = windows->CountTokens(window);
    const bool types = info().token_types >= 2 && tokenizer().has_token_types();
    return Enqueue(
        index,
        {.request = {windows->Tokens(window, types), ClassifyTask{}},
         .facts = {.source_tokens = tokens},
         .limits = {.choices = 0, .values = static_cast<size_t>(2 * tokens)},
         .priority = request.priority()},
        absl::StrFormat("questions[%d]", number));
  }

  void Fill(int index, v1::AnswerResult& result) override {
    const InputRange range = inputs_of(index);
    AnswerSpans spans(options_, *list_.of(index), contexts_[index]);
    for (int i = range.begin; i < range.end; ++i) {
      spans.Add(i - range.begin, input(i).output().values);
    }
    spans.AddTo(result.mutable_answers());
  }

  WindowSize size_;
  AnswerOptions options_;
  WindowList list_;
  std::vector<std::string> contexts_;
};

}  // namespace

std::unique_ptr<Handler> NewAnswerHandler(const Service& service,
                                          CallContext& context) {
  return std::make_unique<AnswerHandler>(service, context);
}

}  // namespace attend
