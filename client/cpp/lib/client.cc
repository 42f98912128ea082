#include "client/cpp/lib/client.h"

#include <algorithm>
#include <optional>
#include <random>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "attend/v1/attend.grpc.pb.h"
#include "client/cpp/lib/channel.h"
#include "client/cpp/lib/utf8.h"

namespace attend {

struct Client::Channel {
  explicit Channel(const std::string& address)
      : stub(v1::Attend::NewStub(OpenChannel(address))) {}

  const std::unique_ptr<v1::Attend::Stub> stub;
};

namespace {

// One attempt's outcome. `begun`: a message has arrived.
struct Attempt {
  absl::Status status;
  bool begun = false;
};

std::optional<absl::Duration> Pushback(const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("grpc-retry-pushback-ms");
  if (found == trailers.end()) return std::nullopt;
  int64_t milliseconds = 0;
  const std::string value(found->second.data(), found->second.size());
  // gRPC asks that a value which is no number means "do not retry".
  if (!absl::SimpleAtoi(value, &milliseconds)) milliseconds = -1;
  return absl::Milliseconds(milliseconds);
}

double Random() {
  thread_local std::minstd_rand engine{std::random_device{}()};
  return std::uniform_real_distribution<double>()(engine);
}

// Calls `attempt` until it succeeds, has begun, or the policy gives up.
absl::Status CallWithRetry(
    const ClientOptions& options,
    absl::FunctionRef<Attempt(grpc::ClientContext&)> attempt) {
  const absl::Time deadline = absl::Now() + options.timeout;
  for (int attempts = 1;; ++attempts) {
    grpc::ClientContext context;
    SetTimeout(context, deadline - absl::Now());
    for (const auto& [key, value] : options.metadata) {
      context.AddMetadata(key, value);
    }
    const Attempt outcome = attempt(context);
    if (outcome.status.ok() || outcome.begun) return outcome.status;
    const std::optional<absl::Duration> pause =
        options.retry.Pause({.attempts = attempts,
                             .code = outcome.status.code(),
                             .pushback = Pushback(context),
                             .remaining = deadline - absl::Now()},
                            Random());
    if (!pause.has_value()) return outcome.status;
    options.sleep(*pause);
  }
}

template <typename Request, typename Response>
using Method = grpc::Status (v1::Attend::Stub::*)(grpc::ClientContext*,
                                                  const Request&, Response*);

template <typename Request, typename Response>
absl::StatusOr<Response> Unary(const ClientOptions& options,
                               v1::Attend::Stub& stub,
                               Method<Request, Response> method,
                               const Request& request) {
  Response response;
  const absl::Status status =
      CallWithRetry(options, [&](grpc::ClientContext& context) -> Attempt {
        return {ToAbslStatus((stub.*method)(&context, request, &response))};
      });
  if (!status.ok()) return status;
  return response;
}

}  // namespace

void Cancellation::Cancel() {
  const std::lock_guard<std::mutex> lock(mutex_);
  cancelled_ = true;
  if (cancel_) cancel_();
}

bool Cancellation::Enter(std::function<void()> cancel) {
  const std::lock_guard<std::mutex> lock(mutex_);
  cancel_ = std::move(cancel);
  return !cancelled_;
}

void Cancellation::Leave() {
  const std::lock_guard<std::mutex> lock(mutex_);
  cancel_ = nullptr;
}

Client::Client(ClientOptions options)
    : options_(std::move(options)),
      channel_(std::make_unique<Channel>(options_.address)) {}

Client::~Client() = default;

absl::StatusOr<v1::GenerateResponse> Client::Generate(
    const v1::GenerateRequest& request) {
  if (absl::Status text = CheckText(request); !text.ok()) return text;
  return Unary(options_, *channel_->stub, &v1::Attend::Stub::Generate, request);
}

absl::Status Client::GenerateStream(
    const v1::GenerateRequest& request,
    absl::FunctionRef<bool(const v1::GenerateChunk&)> on_chunk,
    Cancellation* cancellation) {
  if (absl::Status text = CheckText(request); !text.ok()) return text;
  Cancellation none;
  Cancellation& cancel = cancellation == nullptr ? none : *cancellation;
  return CallWithRetry(options_, [&](grpc::ClientContext& context) -> Attempt {
    const bool go = cancel.Enter([&context] { context.TryCancel(); });
    const auto leave = absl::MakeCleanup([&cancel] { cancel.Leave(); });
    if (!go) return {absl::CancelledError("cancelled by the caller")};
    bool begun = false;
    const auto reader = channel_->stub->GenerateStream(&context, request);
    v1::GenerateChunk chunk;
    while (reader->Read(&chunk)) {
      begun = true;
      if (on_chunk(chunk)) continue;
      context.TryCancel();
      while (reader->Read(&chunk)) {
      }
      reader->Finish();
      return {absl::CancelledError("cancelled by the caller"), begun};
    }
    return {ToAbslStatus(reader->Finish()), begun};
  });
}

absl::StatusOr<v1::ScoreResponse> Client::Score(
    const v1::ScoreRequest& request) {
  if (absl::Status text = CheckText(request); !text.ok()) return text;
  return Unary(options_, *channel_->stub, &v1::Attend::Stub::Score, request);
}

absl::StatusOr<v1::EmbedResponse> Client::Embed(
    const v1::EmbedRequest& request) {
  if (absl::Status text = CheckText(request); !text.ok()) return text;
  return Unary(options_, *channel_->stub, &v1::Attend::Stub::Embed, request);
}

absl::StatusOr<v1::ClassifyResponse> Client::Classify(
    const v1::ClassifyRequest& request) {
  if (absl::Status text = CheckText(request); !text.ok()) return text;
  return Unary(options_, *channel_->stub, &v1::Attend::Stub::Classify, request);
}

absl::StatusOr<v1::FillMaskResponse> Client::FillMask(
    const v1::FillMaskRequest& request) {
  if (absl::Status text = CheckText(request); !text.ok()) return text;
  return Unary(options_, *channel_->stub, &v1::Attend::Stub::FillMask, request);
}

absl::StatusOr<v1::RerankResponse> Client::Rerank(
    const v1::RerankRequest& request) {
  if (absl::Status text = CheckText(request); !text.ok()) return text;
  return Unary(options_, *channel_->stub, &v1::Attend::Stub::Rerank, request);
}

absl::StatusOr<v1::TokenizeResponse> Client::Tokenize(
    const v1::TokenizeRequest& request) {
  if (absl::Status text = CheckText(request); !text.ok()) return text;
  return Unary(options_, *channel_->stub, &v1::Attend::Stub::Tokenize, request);
}

absl::StatusOr<v1::DetokenizeResponse> Client::Detokenize(
    const v1::DetokenizeRequest& request) {
  return Unary(options_, *channel_->stub, &v1::Attend::Stub::Detokenize,
               request);
}

absl::StatusOr<v1::ListModelsResponse> Client::ListModels() {
  return Unary(options_, *channel_->stub, &v1::Attend::Stub::ListModels,
               v1::ListModelsRequest());
}

absl::StatusOr<v1::Model> Client::GetModel(const std::string& name) {
  v1::GetModelRequest request;
  request.set_name(name);
  return Unary(options_, *channel_->stub, &v1::Attend::Stub::GetModel, request);
}

}  // namespace attend
