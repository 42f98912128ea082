#ifndef ATTEND_CLIENT_CPP_LIB_CLIENT_H_
#define ATTEND_CLIENT_CPP_LIB_CLIENT_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "attend/v1/attend.pb.h"
#include "client/cpp/lib/client_options.h"
#include "client/cpp/lib/retry_after.h"

// The C++ client. A program outside this repository calls find_package(attend
// CONFIG), links attend::client, and includes "client/cpp/lib/client.h".

namespace attend {

// A client of the services of attend.v1, with blocking calls.
// * A call returns the status that the server sent, UNAVAILABLE if no server
//   can be reached, or DEADLINE_EXCEEDED after `timeout`. RetryAfter() of the
//   status is the time after which the server wants a retry.
// * Each input of a call has its own status, in its result.
// * A failed call is retried according to `retry`. An interrupted stream then
//   resumes where it ended.
// * Text must be UTF-8 (see client/cpp/lib/utf8.h). A request with other text
//   is not sent, and the call returns INVALID_ARGUMENT; so do the calls of a
//   client with an invalid token or address.
//
// Thread-safe: several threads may call at once.
class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  absl::StatusOr<v1::GenerateResponse> Generate(
      const v1::GenerateRequest& request, const CallOptions& call = {}) {
    return Call<v1::GenerateResponse>("Generate", request, call);
  }
  absl::StatusOr<v1::TranslateResponse> Translate(
      const v1::TranslateRequest& request, const CallOptions& call = {}) {
    return Call<v1::TranslateResponse>("Translate", request, call);
  }
  absl::StatusOr<v1::ScoreResponse> Score(const v1::ScoreRequest& request,
                                          const CallOptions& call = {}) {
    return Call<v1::ScoreResponse>("Score", request, call);
  }
  absl::StatusOr<v1::EmbedResponse> Embed(const v1::EmbedRequest& request,
                                          const CallOptions& call = {}) {
    return Call<v1::EmbedResponse>("Embed", request, call);
  }
  absl::StatusOr<v1::ClassifyResponse> Classify(
      const v1::ClassifyRequest& request, const CallOptions& call = {}) {
    return Call<v1::ClassifyResponse>("Classify", request, call);
  }
  absl::StatusOr<v1::FillMaskResponse> FillMask(
      const v1::FillMaskRequest& request, const CallOptions& call = {}) {
    return Call<v1::FillMaskResponse>("FillMask", request, call);
  }
  absl::StatusOr<v1::AnswerResponse> Answer(const v1::AnswerRequest& request,
                                            const CallOptions& call = {}) {
    return Call<v1::AnswerResponse>("Answer", request, call);
  }
  absl::StatusOr<v1::RerankResponse> Rerank(const v1::RerankRequest& request,
                                            const CallOptions& call = {}) {
    return Call<v1::RerankResponse>("Rerank", request, call);
  }
  absl::StatusOr<v1::TokenizeResponse> Tokenize(
      const v1::TokenizeRequest& request, const CallOptions& call = {}) {
    return Call<v1::TokenizeResponse>("Tokenize", request, call);
  }
  absl::StatusOr<v1::DetokenizeResponse> Detokenize(
      const v1::DetokenizeRequest& request, const CallOptions& call = {}) {
    return Call<v1::DetokenizeResponse>("Detokenize", request, call);
  }
  absl::StatusOr<v1::ListModelsResponse> ListModels(
      const CallOptions& call = {});
  // The calls of attend.v1.Admin. They return once the change is complete, so
  // allow them time. `version` 0: the highest one.
  absl::StatusOr<v1::LoadModelResponse> LoadModel(const std::string& name,
                                                  int64_t version = 0,
                                                  const CallOptions& call = {});
  absl::StatusOr<v1::UnloadModelResponse> UnloadModel(
      const std::string& name, const CallOptions& call = {});
  absl::StatusOr<v1::SetAliasResponse> SetAlias(
      const v1::SetAliasRequest& request, const CallOptions& call = {});
  // If `name` is empty, the server's default model.
  absl::StatusOr<v1::Model> GetModel(const std::string& name,
                                     const CallOptions& call = {});

  // Calls `on_chunk` for each chunk, in order, on the caller's thread. Returns
  // when the stream has ended. If `on_chunk` returns false the call is
  // cancelled, and returns CANCELLED.
  absl::Status GenerateStream(
      const v1::GenerateRequest& request,
      absl::FunctionRef<bool(const v1::GenerateChunk&)> on_chunk,
      const CallOptions& call = {});
  absl::Status TranslateStream(
      const v1::TranslateRequest& request,
      absl::FunctionRef<bool(const v1::TranslateChunk&)> on_chunk,
      const CallOptions& call = {});
  // Records a profile of that duration: calls `on_piece` for the chunks of
  // the trace, which is JSON for Perfetto. The deadline is later than that of
  // other calls, by `duration`. The rest is as in GenerateStream().
  absl::Status Profile(absl::Duration duration,
                       absl::FunctionRef<bool(absl::string_view)> on_piece,
                       const CallOptions& call = {});

  // Uses the default options of a call.
  absl::Status GenerateStream(
      const v1::GenerateRequest& request,
      absl::FunctionRef<bool(const v1::GenerateChunk&)> on_chunk,
      Cancellation* cancellation);
  absl::Status Profile(absl::Duration duration,
                       absl::FunctionRef<bool(absl::string_view)> on_piece,
                       Cancellation* cancellation);

 private:
  struct State;  // keeps gRPC's headers out of this one

  // Calls the unary method of that name (see PrepareUnary()), which takes a
  // Request and returns a Response.
  template <class Response>
  absl::StatusOr<Response> Call(const char* method,
                                const google::protobuf::Message& request,
                                const CallOptions& call) {
    Response response;
    const absl::Status status = CallUnary(method, request, call, response);
    if (!status.ok()) return status;
    return response;
  }
  absl::Status CallUnary(const std::string& method,
                         const google::protobuf::Message& request,
                         const CallOptions& call,
                         google::protobuf::Message& response);
  // A stream of Chunks. `begin` begins an attempt, and returns its reader.
  template <class Chunk, class Begin>
  absl::Status Stream(const CallOptions& call, bool resume, const Begin& begin,
                      absl::FunctionRef<bool(const Chunk&)> on_chunk);

  const ClientOptions options_;
  const std::unique_ptr<State> state_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_CLIENT_H_
