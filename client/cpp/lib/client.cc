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
  explicit Channel(const ClientOptions& options)
      : channel(OpenChannel(options)),
        stub(v1::Attend::NewStub(channel)),
        admin(v1::Admin::NewStub(channel)),
        unary(channel) {}

  const std::shared_ptr<grpc::Channel> channel;
  const std::unique_ptr<v1::Attend::Stub> stub;
  const std::unique_ptr<v1::Admin::Stub> admin;
  UnaryStub unary;
};

namespace {

// How one attempt ended. `begun`: a message had arrived.
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
  // By gRPC's rules a value that is no number means "do not retry".
  if (!absl::SimpleAtoi(value, &milliseconds)) milliseconds = -1;
  return absl::Milliseconds(milliseconds);
}

double Random() {
  thread_local std::minstd_rand engine{std::random_device{}()};
  return std::uniform_real_distribution<double>()(engine);
}

// Makes attempts until an attempt succeeds, an attempt fails after its first
// message, or the policy gives up.
absl::Status CallWithRetry(
    const ClientOptions& options, absl::Duration timeout,
    absl::FunctionRef<Attempt(grpc::ClientContext&)> attempt) {
  if (absl::Status token = CheckToken(options.token); !token.ok()) return token;
  const absl::Time deadline = absl::Now() + timeout;
  for (int attempts = 1;; ++attempts) {
    grpc::ClientContext context;
    SetTimeout(context, deadline - absl::Now());
    AddMetadata(context, MetadataOf(options));
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

}  // namespace

Client::Client(ClientOptions options)
    : options_(std::move(options)),
      channel_(std::make_unique<Channel>(options_)) {}

Client::~Client() = default;

absl::Status Client::CallUnary(const std::string& method,
                               const google::protobuf::Message& request,
                               google::protobuf::Message& response) {
  if (absl::Status text = CheckText(request); !text.ok()) return text;
  return CallWithRetry(
      options_, options_.timeout, [&](grpc::ClientContext& context) -> Attempt {
        grpc::CompletionQueue queue;
        const auto call =
            PrepareUnary(channel_->unary, context, method, request, queue);
        call->StartCall();
        grpc::Status status;
        call->Finish(&response, &status, nullptr);
        void* tag = nullptr;
        bool ok = false;
        queue.Next(&tag, &ok);
        return {ToAbslStatus(status)};
      });
}

absl::StatusOr<v1::LoadModelResponse> Client::LoadModel(const std::string& name,
                                                        int64_t version) {
  v1::LoadModelRequest request;
  request.set_name(name);
  request.set_version(version);
  return Call<v1::LoadModelResponse>("Admin/LoadModel", request);
}

absl::StatusOr<v1::UnloadModelResponse> Client::UnloadModel(
    const std::string& name) {
  v1::UnloadModelRequest request;
  request.set_name(name);
  return Call<v1::UnloadModelResponse>("Admin/UnloadModel", request);
}

absl::StatusOr<v1::Model> Client::GetModel(const std::string& name) {
  v1::GetModelRequest request;
  request.set_name(name);
  return Call<v1::Model>("GetModel", request);
}

template <class Chunk, class Begin>
absl::Status Client::Stream(absl::Duration timeout, const Begin& begin,
                            absl::FunctionRef<bool(const Chunk&)> on_chunk,
                            Cancellation* cancellation) {
  Cancellation none;
  Cancellation& cancel = cancellation == nullptr ? none : *cancellation;
  return CallWithRetry(
      options_, timeout, [&](grpc::ClientContext& context) -> Attempt {
        const bool go = cancel.Enter([&context] { context.TryCancel(); });
        const auto leave = absl::MakeCleanup([&cancel] { cancel.Leave(); });
        if (!go) return {absl::CancelledError("cancelled by the caller")};
        bool begun = false;
        const auto reader = begin(context);
        Chunk chunk;
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

absl::Status Client::GenerateStream(
    const v1::GenerateRequest& request,
    absl::FunctionRef<bool(const v1::GenerateChunk&)> on_chunk,
    Cancellation* cancellation) {
  if (absl::Status text = CheckText(request); !text.ok()) return text;
  return Stream<v1::GenerateChunk>(
      options_.timeout,
      [&](grpc::ClientContext& context) {
        return channel_->stub->GenerateStream(&context, request);
      },
      on_chunk, cancellation);
}

absl::Status Client::Profile(
    absl::Duration duration,
    absl::FunctionRef<bool(absl::string_view)> on_piece,
    Cancellation* cancellation) {
  v1::ProfileRequest request;
  absl::Duration rest;
  request.mutable_duration()->set_seconds(
      absl::IDivDuration(duration, absl::Seconds(1), &rest));
  request.mutable_duration()->set_nanos(
      static_cast<int>(absl::ToInt64Nanoseconds(rest)));
  return Stream<v1::ProfileChunk>(
      options_.timeout + duration,
      [&](grpc::ClientContext& context) {
        return channel_->admin->Profile(&context, request);
      },
      [&](const v1::ProfileChunk& chunk) { return on_piece(chunk.trace()); },
      cancellation);
}

}  // namespace attend
