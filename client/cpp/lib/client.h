#ifndef ATTEND_CLIENT_CPP_LIB_CLIENT_H_
#define ATTEND_CLIENT_CPP_LIB_CLIENT_H_

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "attend/v1/attend.pb.h"
#include "client/cpp/lib/retry.h"

// In a program elsewhere: find_package(attend CONFIG), link attend::client, and
// include this file by this path.

namespace attend {

struct ClientOptions {
  std::string address = "localhost:50051";
  // Deadline of each call, its retries and their pauses included.
  // absl::InfiniteDuration(): none.
  absl::Duration timeout = absl::Seconds(60);
  RetryPolicy retry = {};
  // Sent with each call, for instance {"x-request-id", "42"}.
  std::vector<std::pair<std::string, std::string>> metadata = {};
  // How a pause before a retry is spent. Replaced by tests.
  std::function<void(absl::Duration)> sleep = absl::SleepFor;
};

// Ends a call from another thread; one call at a time. Thread-safe.
class Cancellation {
 public:
  // The call that has this ends as CANCELLED, also if it begins later.
  void Cancel();

 private:
  friend class Client;
  // False: cancelled already. `cancel` is called until Leave() returns.
  bool Enter(std::function<void()> cancel);
  void Leave();

  std::mutex mutex_;
  bool cancelled_ = false;
  std::function<void()> cancel_;
};

// A client of the service attend.v1.Attend: one channel, blocking calls.
//
// A call's error is the status that the server sent, or UNAVAILABLE where it
// cannot be reached and DEADLINE_EXCEEDED after `timeout`. The status of each
// input of a batch stands in its result. A call is repeated as `retry` says,
// never after its first message. Text must be UTF-8 (see
// client/cpp/lib/utf8.h): what is not is refused here, with INVALID_ARGUMENT.
//
// Thread-safe: any number of threads may call at once.
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
  // `name` empty: the server's default model.
  absl::StatusOr<v1::Model> GetModel(const std::string& name);

  // Calls `on_chunk` for each chunk, in order, on this thread, and returns when
  // the stream has ended. `on_chunk` returns false to cancel the call: its
  // status is then CANCELLED. So it is after Cancel() of `cancellation`, which
  // may be null and otherwise must outlive the call.
  absl::Status GenerateStream(
      const v1::GenerateRequest& request,
      absl::FunctionRef<bool(const v1::GenerateChunk&)> on_chunk,
      Cancellation* cancellation = nullptr);

 private:
  struct Channel;  // keeps gRPC's headers out of this one

  // Calls the unary method of that name, which takes a Request and returns a
  // Response.
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

  const ClientOptions options_;
  const std::unique_ptr<Channel> channel_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_CLIENT_H_
