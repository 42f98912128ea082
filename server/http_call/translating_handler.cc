#include "server/http_call/translating_handler.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// So much text goes into one part of a stream, if it is there already.
constexpr size_t kPartBytes = 32 << 10;

}  // namespace

// Takes the answers of the inner handler.
class TranslatingHandler::Translation final : public Responder {
 public:
  Translation(HttpTranslator& translator, std::string& text)
      : translator_(translator), text_(text) {}

  void Send(const google::protobuf::Message& answer) override {
    sent_ = true;
    if (end_.ok()) end_ = CheckSize(answer);
    if (end_.ok()) {
      end_ = translator_.Rename(translator_.Append(answer, text_));
    }
    if (!end_.ok()) ended_ = true;
  }
  void Finish(const absl::Status& status) override {
    ended_ = true;
    if (!end_.ok()) return;  // the answer could not be translated
    end_ = translator_.Rename(status);
    if (end_.ok()) translator_.AppendEnd(text_);
  }

  bool TakeSent() { return std::exchange(sent_, false); }
  bool ended() const { return ended_; }
  const absl::Status& end() const { return end_; }

 private:
  absl::Status CheckSize(const google::protobuf::Message& answer) const {
    const size_t bytes = answer.ByteSizeLong();
    const size_t limit = translator_.max_answer_bytes();
    if (bytes <= limit) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the answer has ", bytes, " bytes, the limit in JSON is ",
                     limit, "; ask for less, or over gRPC"));
  }

  HttpTranslator& translator_;
  std::string& text_;
  bool sent_ = false;
  bool ended_ = false;
  absl::Status end_;
};

absl::StatusOr<int> TranslatingHandler::Start(
    const google::protobuf::Message&) {
  if (inner_ == nullptr) {
    // A string that is made empty would keep its memory.
    ASSIGN_OR_RETURN(
        request_,
        translator_.Read(HttpCallInput(std::move(input_)), service_, context_));
    inner_ = request_.make(service_, context_);
  }
  const absl::StatusOr<int> count = inner_->Start(*request_.message);
  if (!count.ok()) return translator_.Rename(count.status());
  inputs_ = *count;
  return count;
}

absl::Status TranslatingHandler::StartInput(const google::protobuf::Message&,
                                            int index) {
  const absl::Status status = inner_->StartInput(*request_.message, index);
  // Nobody needs it any more, while the inputs may wait for long.
  if (index + 1 == inputs_) request_.message.reset();
  return translator_.Rename(status);
}

void TranslatingHandler::Continue(Responder& to) {
  Translation translation(translator_, text_);
  do {
    inner_->Continue(translation);
  } while (translation.TakeSent() && !translation.ended() &&
           text_.size() < kPartBytes);
  if (translation.ended()) to.Finish(translation.end());
}

}  // namespace attend
