#ifndef ATTEND_CLIENT_CPP_LOAD_LOAD_H_
#define ATTEND_CLIENT_CPP_LOAD_LOAD_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "attend/v1/attend.pb.h"

namespace attend {

// What became of one input of a call.
struct InputOutcome {
  v1::Status status;
  v1::Usage usage;
};

// A call to make: a unary method of the service ("Embed"), and its request.
struct LoadRequest {
  std::string method;
  std::shared_ptr<const google::protobuf::Message> request;
  // Makes an empty response, and says what each of its results holds.
  std::function<std::unique_ptr<google::protobuf::Message>()> new_response;
  std::function<std::vector<InputOutcome>(const google::protobuf::Message&)>
      outcomes;
};

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
                  outcomes.push_back({result.status(), result.usage()});
                }
                return outcomes;
              }};
}

// One class of calls that a LoadGenerator makes.
struct Load {
  std::vector<LoadRequest> requests = {};  // taken in turn; not empty
  int count = 100;                         // calls to make
  // Closed loop: so many calls in flight, each followed by the next.
  int concurrency = 8;
  // Above 0: open loop. Calls start at the times of a Poisson process with this
  // many a second, however many are in flight.
  double rate = 0;
  uint64_t seed = 1;   // of the process
  bool stream = true;  // GenerateStream instead of Generate
  absl::Duration timeout = absl::Seconds(60);
};

// What one call took, measured at the client. In an open loop times count from
// when the call was due, so that a late start is not hidden.
struct CallRecord {
  absl::StatusCode code = absl::StatusCode::kOk;
  absl::Duration first_token;        // streams: to the first chunk with tokens
  std::vector<absl::Duration> gaps;  // between chunks with tokens of a choice
  absl::Duration total;
  int64_t tokens = 0;  // generated
  int64_t source_tokens = 0;
  int64_t inputs = 0;
};

struct LoadResult {
  std::vector<CallRecord> calls;  // in the order in which they ended
  absl::Duration elapsed;
};

// Makes calls over one channel with the completion-queue API, all on the thread
// that calls Run. (gRPC 1.51's callback API delivers late after a quiet second
// and would measure itself.) Nothing is retried. Not thread-safe.
class LoadGenerator {
 public:
  explicit LoadGenerator(const std::string& address);
  ~LoadGenerator();

  // Makes `load.count` calls and returns when they have ended. Meanwhile calls
  // of `background`, if not null, are made without an end (its `count` is not
  // used); what is left of them then is cancelled, and none is recorded.
  LoadResult Run(const Load& load, const Load* background = nullptr);

 private:
  struct Channel;

  const std::unique_ptr<Channel> channel_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_LOAD_H_
