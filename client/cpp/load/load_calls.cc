#include "client/cpp/load/load_calls.h"

#include <chrono>
#include <map>
#include <variant>

namespace attend {
namespace {

template <class Response>
class UnaryCall : public LoadCall {
 public:
  template <class Start, class Request>
  UnaryCall(Start start, v1::Attend::Stub& stub, grpc::CompletionQueue& queue,
            const Request& request, absl::Duration due, absl::Duration timeout)
      : LoadCall(due, timeout),
        reader_((stub.*start)(&context_, request, &queue)) {
    reader_->Finish(&response_, &status_, this);
  }

  bool Proceed(bool) override {
    for (const auto& result : response_.results()) {
      NoteInput(result.status(), result.usage());
    }
    return false;
  }

 private:
  Response response_;
  const std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader_;
};

class StreamCall : public LoadCall {
 public:
  StreamCall(v1::Attend::Stub& stub, grpc::CompletionQueue& queue,
             const v1::GenerateRequest& request, absl::Duration due,
             absl::Duration timeout)
      : LoadCall(due, timeout),
        reader_(stub.AsyncGenerateStream(&context_, request, &queue, this)) {}

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
      NoteInput(chunk_.status(), chunk_.usage());
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
  // When the last tokens of each (input, choice) came.
  std::map<std::pair<int, int>, absl::Duration> last_;
  const std::unique_ptr<grpc::ClientAsyncReader<v1::GenerateChunk>> reader_;
};

// Starts the unary call of a request.
struct UnaryStarter {
  using Stub = v1::Attend::Stub;
  using CallPtr = std::unique_ptr<LoadCall>;

  CallPtr operator()(const v1::GenerateRequest& request) const {
    return Start<v1::GenerateResponse>(&Stub::AsyncGenerate, request);
  }
  CallPtr operator()(const v1::EmbedRequest& request) const {
    return Start<v1::EmbedResponse>(&Stub::AsyncEmbed, request);
  }
  CallPtr operator()(const v1::ClassifyRequest& request) const {
    return Start<v1::ClassifyResponse>(&Stub::AsyncClassify, request);
  }
  CallPtr operator()(const v1::FillMaskRequest& request) const {
    return Start<v1::FillMaskResponse>(&Stub::AsyncFillMask, request);
  }
  CallPtr operator()(const v1::RerankRequest& request) const {
    return Start<v1::RerankResponse>(&Stub::AsyncRerank, request);
  }

  template <class Response, class Method, class Request>
  CallPtr Start(Method method, const Request& request) const {
    return std::make_unique<UnaryCall<Response>>(method, stub, queue, request,
                                                 due, timeout);
  }

  Stub& stub;
  grpc::CompletionQueue& queue;
  const absl::Duration due;
  const absl::Duration timeout;
};

}  // namespace

absl::Duration SteadyNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

std::unique_ptr<LoadCall> StartCall(v1::Attend::Stub& stub,
                                    grpc::CompletionQueue& queue,
                                    const LoadRequest& request, bool stream,
                                    absl::Duration due,
                                    absl::Duration timeout) {
  const auto* generate = std::get_if<v1::GenerateRequest>(&request);
  if (stream && generate != nullptr) {
    return std::make_unique<StreamCall>(stub, queue, *generate, due, timeout);
  }
  return std::visit(UnaryStarter{stub, queue, due, timeout}, request);
}

}  // namespace attend
