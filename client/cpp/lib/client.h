#ifndef ATTEND_CLIENT_CPP_LIB_CLIENT_H_
#define ATTEND_CLIENT_CPP_LIB_CLIENT_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "attend/v1/attend.pb.h"
#include "client/cpp/lib/cancellation.h"
#include "client/cpp/lib/client_tls.h"
#include "client/cpp/lib/retry.h"

// The C++ client. A program outside this repository calls find_package(attend
// CONFIG), links attend::client, and includes "client/cpp/lib/client.h".

namespace attend {

struct ClientOptions {
  std::string address = "localhost:50051";
  // nullopt: no TLS.
  std::optional<ClientTls> tls = std::nullopt;
  // Sent with each call, as "authorization: Bearer TOKEN". Empty: no token is
  // sent. Without TLS everybody between client and server can read the token.
  std::string token = "";
  // Deadline of each call, retries and the pauses before them included.
  // absl::InfiniteDuration(): no deadline.
  absl::Duration timeout = absl::Seconds(60);
  RetryPolicy retry = {};
  // Metadata of each call, for instance {"x-request-id", "42"}.
  std::vector<std::pair<std::string, std::string>> metadata = {};
  // Waits before a retry. Tests replace it.
  std::function<void(absl::Duration)> sleep = absl::SleepFor;
};

// A client of the services of attend.v1, with one channel and blocking
// calls.
// * A call returns the status that the server sent, UNAVAILABLE if no server
//   can be reached, or DEADLINE_EXCEEDED after `timeout`.
// * Each input of a call has a status of its own, in its result.
// * A call that fails before its first message is retried, as `retry` says.
// * Text must be UTF-8 (see client/cpp/lib/utf8.h). A request with other text
//   is not sent, and the call returns INVALID_ARGUMENT; a token that cannot be
//   a header is not sent either.
//
// Thread-safe: several threads may call at once.
class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  absl::StatusOr<v1::GenerateResponse> Generate(
      const v1::GenerateRequest& request) {
    return Call<v1::GenerateResponse>("Generate", request);
  }
  absl::StatusOr<v1::TranslateResponse> Translate(
      const v1::TranslateRequest& request) {
    return Call<v1::TranslateResponse>("Translate", request);
  }
  absl::StatusOr<v1::ScoreResponse> Score(const v1::ScoreRequest& request) {
    return Call<v1::ScoreResponse>("Score", request);
  }
  absl::StatusOr<v1::EmbedResponse> Embed(const v1::EmbedRequest& request) {
    return Call<v1::EmbedResponse>("Embed", request);
  }
  absl::StatusOr<v1::ClassifyResponse> Classify(
      const v1::ClassifyRequest& request) {
    return Call<v1::ClassifyResponse>("Classify", request);
  }
  absl::StatusOr<v1::FillMaskResponse> FillMask(
      const v1::FillMaskRequest& request) {
    return Call<v1::FillMaskResponse>("FillMask", request);
  }
  absl::StatusOr<v1::RerankResponse> Rerank(const v1::RerankRequest& request) {
    return Call<v1::RerankResponse>("Rerank", request);
  }
  absl::StatusOr<v1::TokenizeResponse> Tokenize(
      const v1::TokenizeRequest& request) {
    return Call<v1::TokenizeResponse>("Tokenize", request);
  }
  absl::StatusOr<v1::DetokenizeResponse> Detokenize(
      const v1::DetokenizeRequest& request) {
    return Call<v1::DetokenizeResponse>("Detokenize", request);
  }
  absl::StatusOr<v1::ListModelsResponse> ListModels() {
    return Call<v1::ListModelsResponse>("ListModels", v1::ListModelsRequest());
  }
  // The calls of attend.v1.Admin, whose answers come when the change is made:
  // give them time. `version` 0: the highest there is.
  absl::StatusOr<v1::LoadModelResponse> LoadModel(const std::string& name,
                                                  int64_t version = 0);
  absl::StatusOr<v1::UnloadModelResponse> UnloadModel(const std::string& name);
  absl::StatusOr<v1::SetAliasResponse> SetAlias(
      const v1::SetAliasRequest& request) {
    return Call<v1::SetAliasResponse>("Admin/SetAlias", request);
  }
  // If `name` is empty, the server's default model.
  absl::StatusOr<v1::Model> GetModel(const std::string& name);

  // Calls `on_chunk` for each chunk, in order, on the caller's thread. Returns
  // when the stream has ended. Two things cancel the call, and it then returns
  // CANCELLED: `on_chunk` returns false, or another thread calls Cancel() of
  // `cancellation`. `cancellation` may be null, and must outlive the call.
  absl::Status GenerateStream(
      const v1::GenerateRequest& request,
      absl::FunctionRef<bool(const v1::GenerateChunk&)> on_chunk,
      Cancellation* cancellation = nullptr);
  // What the server computes in that time: calls `on_piece` for the pieces of
  // the trace, which are JSON for Perfetto. The deadline is later than that of
  // other calls, by `duration`. The rest is as in GenerateStream().
  absl::Status Profile(absl::Duration duration,
                       absl::FunctionRef<bool(absl::string_view)> on_piece,
                       Cancellation* cancellation = nullptr);

 private:
  struct Channel;  // keeps gRPC's headers out of this one

  // Calls the unary method of that name (see PrepareUnary()), which takes a
  // Request and returns a Response.
  template <class Response>
  absl::StatusOr<Response> Call(const char* method,
                                const google::protobuf::Message& request) {
    Response response;
    const absl::Status status = CallUnary(method, request, response);
    if (!status.ok()) return status;
    return response;
  }
  absl::Status CallUnary(const std::string& method,
                         const google::protobuf::Message& request,
                         google::protobuf::Message& response);
  // A stream of Chunks. `begin` begins an attempt, and returns its reader.
  template <class Chunk, class Begin>
  absl::Status Stream(absl::Duration timeout, const Begin& begin,
                      absl::FunctionRef<bool(const Chunk&)> on_chunk,
                      Cancellation* cancellation);

  const ClientOptions options_;
  const std::unique_ptr<Channel> channel_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_CLIENT_H_
