#include "client/cpp/lib/client.h"

#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "attend/v1/attend.grpc.pb.h"
#include "client/cpp/lib/affinity.h"
#include "client/cpp/lib/attempts.h"
#include "client/cpp/lib/hedging.h"
#include "client/cpp/lib/replay.h"
#include "client/cpp/lib/servers.h"
#include "client/cpp/lib/utf8.h"

namespace attend {

struct Client::State {
  explicit State(const ClientOptions& options)
      : servers(options), admin_options(options) {
    admin_options.affinity = 0;
    admin_options.health_checks = false;
  }

  // The servers for a method of a service. Those of attend.v1.Admin are called
  // on a connection of their own, whether the server serves or not: it may wait
  // for its first model.
  Servers& ServersOf(bool admin) {
    if (!admin) return servers;
    std::call_once(admin_once,
                   [this] { admin_servers.emplace(admin_options); });
    return *admin_servers;
  }

  Servers servers;
  HedgeBudget hedges;
  ClientOptions admin_options;
  std::once_flag admin_once;
  std::optional<Servers> admin_servers;
};

namespace {

// The request, and of the client's model if it names none itself.
class Sent {
 public:
  Sent(const google::protobuf::Message& request, const std::string& model)
      : request_(request) {
    const auto* field = request.GetDescriptor()->FindFieldByName("model");
    if (model.empty() || field == nullptr) return;
    const auto& reflection = *request.GetReflection();
    if (reflection.HasField(request, field)) return;
    changed_.reset(request.New());
    changed_->CopyFrom(request);
    reflection.SetString(changed_.get(), field, model);
  }

  const google::protobuf::Message& operator*() const {
    return changed_ == nullptr ? request_ : *changed_;
  }

 private:
  const google::protobuf::Message& request_;
  std::unique_ptr<google::protobuf::Message> changed_;
};

// A request for a stream as it is sent.
template <class Request>
absl::StatusOr<Request> ToStream(const Request& request,
                                 const ClientOptions& options) {
  Request sent = request;
  if (sent.model().empty()) sent.set_model(options.model);
  if (options.resume) SetSeed(*sent.mutable_params());
  if (absl::Status text = CheckText(sent); !text.ok()) return text;
  return sent;
}

// What says which server a call goes to; empty: any.
std::string KeyOf(const google::protobuf::Message& request,
                  const ClientOptions& options) {
  return options.affinity == 0 ? "" : AffinityKey(request, options.affinity);
}

}  // namespace

Client::Client(ClientOptions options)
    : options_(std::move(options)), state_(std::make_unique<State>(options_)) {}

Client::~Client() = default;

absl::Status Client::CallUnary(const std::string& method,
                               const google::protobuf::Message& request,
                               const CallOptions& call,
                               google::protobuf::Message& response) {
  const Sent sent(request, options_.model);
  if (absl::Status text = CheckText(*sent); !text.ok()) return text;
  const bool admin = absl::StrContains(method, '/');
  const std::string key = admin ? "" : KeyOf(*sent, options_);
  Servers& servers = state_->ServersOf(admin);
  const BeginUnary begin = [&](grpc::ClientContext& context,
                               grpc::CompletionQueue& queue, bool is_second) {
    const auto connection =
        servers.For(is_second ? Elsewhere(key) : key, context);
    return PrepareUnary(connection->unary, context, method, *sent, queue);
  };
  // What changes the server is not asked for twice.
  const absl::Duration hedge_after =
      admin ? absl::InfiniteDuration() : options_.hedge_after;
  Attempts attempts(options_, call, call.timeout.value_or(options_.timeout));
  return attempts.Run([&] {
    return CallUnaryOnce(attempts, begin, hedge_after, state_->hedges,
                         response);
  });
}

absl::StatusOr<v1::ListModelsResponse> Client::ListModels(
    const CallOptions& call) {
  return Call<v1::ListModelsResponse>("ListModels", v1::ListModelsRequest(),
                                      call);
}

absl::StatusOr<v1::LoadModelResponse> Client::LoadModel(
    const std::string& name, int64_t version, const CallOptions& call) {
  v1::LoadModelRequest request;
  request.set_name(name);
  request.set_version(version);
  return Call<v1::LoadModelResponse>("Admin/LoadModel", request, call);
}

absl::StatusOr<v1::UnloadModelResponse> Client::UnloadModel(
    const std::string& name, const CallOptions& call) {
  v1::UnloadModelRequest request;
  request.set_name(name);
  return Call<v1::UnloadModelResponse>("Admin/UnloadModel", request, call);
}

absl::StatusOr<v1::SetAliasResponse> Client::SetAlias(
    const v1::SetAliasRequest& request, const CallOptions& call) {
  return Call<v1::SetAliasResponse>("Admin/SetAlias", request, call);
}

absl::StatusOr<v1::Model> Client::GetModel(const std::string& name,
                                           const CallOptions& call) {
  v1::GetModelRequest request;
  request.set_name(name);
  return Call<v1::Model>("GetModel", request, call);
}

template <class Chunk, class Begin>
absl::Status Client::Stream(const CallOptions& call, bool resume,
                            const Begin& begin,
                            absl::FunctionRef<bool(const Chunk&)> on_chunk) {
  Attempts attempts(options_, call, call.timeout.value_or(options_.timeout));
  Replay replay;
  bool begun = false;
  return attempts.Run([&]() -> AttemptOutcome {
    grpc::ClientContext& context = attempts.NewContext();
    replay.Begin();
    bool went_on = false;
    const auto reader = begin(context);
    const auto leave = [&](const absl::Status& status) -> AttemptOutcome {
      context.TryCancel();
      for (Chunk rest; reader->Read(&rest);) {
      }
      reader->Finish();
      return {.status = status, .is_final = true};
    };
    for (Chunk chunk; reader->Read(&chunk); begun = true) {
      const absl::StatusOr<bool> is_new = replay.Next(chunk);
      if (!is_new.ok()) return leave(is_new.status());
      went_on = went_on || *is_new;
      if (*is_new && !on_chunk(chunk)) return leave(CancelledByCaller().status);
    }
    AttemptOutcome outcome = AttemptOutcomeOf(context, reader->Finish());
    if (outcome.status.ok()) return {.status = replay.End(), .is_final = true};
    outcome.is_final = begun && !resume;
    outcome.went_on = went_on;
    return outcome;
  });
}

absl::Status Client::GenerateStream(
    const v1::GenerateRequest& request,
    absl::FunctionRef<bool(const v1::GenerateChunk&)> on_chunk,
    const CallOptions& call) {
  const auto sent = ToStream(request, options_);
  if (!sent.ok()) return sent.status();
  return Stream<v1::GenerateChunk>(
      call, options_.resume,
      [&, key = KeyOf(*sent, options_)](grpc::ClientContext& context) {
        return state_->servers.For(key, context)
            ->attend->GenerateStream(&context, *sent);
      },
      on_chunk);
}

absl::Status Client::TranslateStream(
    const v1::TranslateRequest& request,
    absl::FunctionRef<bool(const v1::TranslateChunk&)> on_chunk,
    const CallOptions& call) {
  const auto sent = ToStream(request, options_);
  if (!sent.ok()) return sent.status();
  return Stream<v1::TranslateChunk>(
      call, options_.resume,
      [&, key = KeyOf(*sent, options_)](grpc::ClientContext& context) {
        return state_->servers.For(key, context)
            ->attend->TranslateStream(&context, *sent);
      },
      on_chunk);
}

absl::Status Client::Profile(
    absl::Duration duration,
    absl::FunctionRef<bool(absl::string_view)> on_piece,
    const CallOptions& call) {
  v1::ProfileRequest request;
  absl::Duration rest;
  request.mutable_duration()->set_seconds(
      absl::IDivDuration(duration, absl::Seconds(1), &rest));
  request.mutable_duration()->set_nanos(
      static_cast<int>(absl::ToInt64Nanoseconds(rest)));
  CallOptions longer = call;
  longer.timeout = call.timeout.value_or(options_.timeout) + duration;
  return Stream<v1::ProfileChunk>(
      longer, /*resume=*/false,
      [&](grpc::ClientContext& context) {
        return state_->ServersOf(/*admin=*/true)
            .For("", context)
            ->admin->Profile(&context, request);
      },
      [&](const v1::ProfileChunk& chunk) { return on_piece(chunk.trace()); });
}

absl::Status Client::GenerateStream(
    const v1::GenerateRequest& request,
    absl::FunctionRef<bool(const v1::GenerateChunk&)> on_chunk,
    Cancellation* cancellation) {
  return GenerateStream(request, on_chunk,
                        CallOptions{.cancellation = cancellation});
}

absl::Status Client::Profile(
    absl::Duration duration,
    absl::FunctionRef<bool(absl::string_view)> on_piece,
    Cancellation* cancellation) {
  return Profile(duration, on_piece, CallOptions{.cancellation = cancellation});
}

}  // namespace attend
