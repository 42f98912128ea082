#ifndef ATTEND_TESTS_CLIENT_FAKE_SERVICE_H_
#define ATTEND_TESTS_CLIENT_FAKE_SERVICE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "attend/v1/attend.pb.h"

namespace attend {

// How a call fails before its first message.
struct FakeFailure {
  absl::Status status;
  std::optional<std::string> pushback_ms = {};
  bool headers_first = false;  // sends initial metadata before
};

// A server of attend.v1.Attend on a free port of this machine, which needs no
// model. Generate "translates" a text to capitals, each word one token; its
// stream is a chunk a word and one to end. A text that starts with
//   "bad"    gets INVALID_ARGUMENT as the status of its input,
//   "break"  streams a chunk, then its call fails with UNAVAILABLE,
//   "hang"   waits for the call's deadline.
// Tokenize gives each word its length as id. Score: minus the target's words.
class FakeService {
 public:
  FakeService();
  ~FakeService();

  std::string address() const;
  // The next calls fail like this, one after another.
  void Fail(std::vector<FakeFailure> failures);

  int calls() const;               // so far, failed ones included
  int most_in_flight() const;      // calls at once
  std::string request_id() const;  // x-request-id of the last call
  v1::GenerateRequest last_generate() const;

 private:
  class Implementation;  // keeps gRPC's headers out of the tests

  const std::unique_ptr<Implementation> implementation_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_CLIENT_FAKE_SERVICE_H_
