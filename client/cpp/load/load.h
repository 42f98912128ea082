#ifndef ATTEND_CLIENT_CPP_LOAD_LOAD_H_
#define ATTEND_CLIENT_CPP_LOAD_LOAD_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "attend/v1/attend.pb.h"
#include "client/cpp/lib/client.h"

namespace attend {

// How one input of a call ended.
struct InputOutcome {
  v1::Status status;
  v1::Usage usage;
  v1::Timings timings;
};

// A call to make: the name of a unary method of the service, like "Embed", and
// its request.
struct LoadRequest {
  std::string method;
  std::shared_ptr<const google::protobuf::Message> request;
  // Makes an empty response of the method's type.
  std::function<std::unique_ptr<google::protobuf::Message>()> new_response;
  // The outcomes of the inputs, in the order of the response's results.
  std::function<std::vector<InputOutcome>(const google::protobuf::Message&)>
      outcomes;
};

// A LoadRequest of a method whose response has `results`.
template <class Response, class Request>
LoadRequest MakeLoadRequest(const char* method, Request request) {
  return {.method = method,
          .request = std::make_shared<Request>(std::move(request)),
          .new_response = [] { return std::make_unique<Response>(); },
          .outcomes =
              [](const google::protobuf::Message& response) {
                std::vector<InputOutcome> outcomes;
                for (const auto& result :
                     static_cast<const Response&>(response).results()) {
                  outcomes.push_back(
                      {result.status(), result.usage(), result.timings()});
                }
                return outcomes;
              }};
}

// Calls that a LoadGenerator makes, and when.
struct Load {
  std::vector<LoadRequest> requests = {};  // taken in turn; not empty
  int count = 100;                         // number of calls
  // Closed loop: this many calls are in flight. When one ends, the next starts.
  int concurrency = 8;
  // If above 0, an open loop: calls start at the times of a Poisson process
  // with this many calls a second, however many are in flight.
  double rate = 0;
  uint64_t seed = 1;   // of the Poisson process
  bool stream = true;  // GenerateStream instead of Generate
  absl::Duration timeout = absl::Seconds(60);
  // Called on the thread of Run() with the number of calls that have ended, of
  // those that are recorded. May be null.
  std::function<void(int64_t ended)> on_end = nullptr;
};

// One call, as the client measured it. In an open loop times count from when
// the call was due, so that a late start is not hidden.
struct CallRecord {
  absl::StatusCode code = absl::StatusCode::kOk;
  // Only of streams: the time to the first chunk with tokens, and the times
  // between chunks with tokens of one choice.
  absl::Duration first_token = {};
  std::vector<absl::Duration> gaps = {};
  absl::Duration total = {};
  absl::Duration end = {};  // from the start of the run
  // The longest time that an input waited in the server's queue, as the server
  // says. Nothing: it does not.
  std::optional<absl::Duration> queue = {};
  int64_t tokens = 0;  // generated
  int64_t source_tokens = 0;
  int64_t inputs = 0;
};

struct LoadResult {
  std::vector<CallRecord> calls;  // in the order in which they ended
  absl::Duration elapsed;
};

// Makes calls over one channel, all on the thread that calls Run(). Calls are
// not retried. Not thread-safe.
//
// Uses gRPC's completion queues. The callback API of gRPC 1.51 delivers late
// after a quiet second, so the times would be too long.
class LoadGenerator {
 public:
  // Takes the address, TLS, token and metadata of the options.
  explicit LoadGenerator(const ClientOptions& options);
  ~LoadGenerator();

  // Makes `load.count` calls, and returns when they have ended. Meanwhile makes
  // calls of `background`, if it is not null; its `count` is not used. At the
  // end these calls are cancelled. They are not recorded.
  LoadResult Run(const Load& load, const Load* background = nullptr);

 private:
  struct Channel;

  const std::unique_ptr<Channel> channel_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_LOAD_H_
