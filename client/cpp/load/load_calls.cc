#include "client/cpp/load/load_calls.h"

#include <chrono>
#include <map>

namespace attend {
namespace {

class UnaryCall : public LoadCall {
 public:
  UnaryCall(LoadStubs& stubs, grpc::CompletionQueue& queue,
            const LoadRequest& request, absl::Duration due,
            absl::Duration timeout)
      : LoadCall(stubs, due, timeout),
        request_(request),
        response_(request.new_response()),
        reader_(PrepareUnary(stubs.unary, context_, request.method,
                             *request.request, queue)) {
    reader_->StartCall();
    reader_->Finish(response_.get(), &status_, this);
  }

  bool Proceed(bool) override {
    for (const InputOutcome& input : request_.outcomes(*response_)) {
      NoteInput(input);
    }
    return false;
  }

 private:
  const LoadRequest& request_;
  const std::unique_ptr<google::protobuf::Message> response_;
  const std::unique_ptr<UnaryReader> reader_;
};

class StreamCall : public LoadCall {
 public:
  StreamCall(LoadStubs& stubs, grpc::CompletionQueue& queue,
             const v1::GenerateRequest& request, absl::Duration due,
             absl::Duration timeout)
      : LoadCall(stubs, due, timeout),
        reader_(stubs.attend.AsyncGenerateStream(&context_, request, &queue,
                                                 this)) {}

  bool Proceed(bool ok) override {
    if (finishing_) return false;
    if (ok && started_) Note();
    started_ = true;
    finishing_ = !ok;
    if (ok) {
      reader_->Read(&chunk_, this);
    } else {
      reader_->Finish(&status_, this);
    }
    return true;
  }

 private:
  void Note() {
    if (chunk_.has_status() || chunk_.has_usage()) {
      NoteInput({chunk_.status(), chunk_.usage(), chunk_.timings()});
    }
    if (chunk_.ids().empty()) return;
    const absl::Duration now = SteadyNow();
    if (last_.empty()) record_.first_token = now - due_;
    const auto [found, is_new] =
        last_.try_emplace({chunk_.input(), chunk_.choice()}, now);
    if (!is_new) record_.gaps.push_back(now - found->second);
    found->second = now;
  }

  bool started_ = false;
  bool finishing_ = false;
  v1::GenerateChunk chunk_;
  // The arrival of the last tokens of each (input, choice).
  std::map<std::pair<int, int>, absl::Duration> last_;
  const std::unique_ptr<grpc::ClientAsyncReader<v1::GenerateChunk>> reader_;
};

}  // namespace

absl::Duration SteadyNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

std::unique_ptr<LoadCall> StartCall(LoadStubs& stubs,
                                    grpc::CompletionQueue& queue,
                                    const LoadRequest& request, bool stream,
                                    absl::Duration due,
                                    absl::Duration timeout) {
  if (stream && request.method == "Generate") {
    return std::make_unique<StreamCall>(
        stubs, queue, static_cast<const v1::GenerateRequest&>(*request.request),
        due, timeout);
  }
  return std::make_unique<UnaryCall>(stubs, queue, request, due, timeout);
}

}  // namespace attend
