#ifndef ATTEND_TESTS_CLIENT_FAKE_FAKE_CALLS_H_
#define ATTEND_TESTS_CLIENT_FAKE_FAKE_CALLS_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "attend/v1/attend.pb.h"
#include "tests/client/fake/fake_service.h"

namespace attend {

// The calls that came to a FakeService, and what is to become of the next ones.
// Thread-safe.
class FakeCalls {
 public:
  // A call that counts to those at once while it is there.
  class InFlight {
   public:
    explicit InFlight(FakeCalls& calls);
    ~InFlight();

   private:
    FakeCalls& calls_;
  };

  void Fail(std::vector<FakeFailure> failures);
  void RefuseInput();
  // Ends calls that hang.
  void Stop();

  // Counts a call; its failure, if one is due.
  grpc::Status Begin(grpc::ServerContext& context);
  // Waits for the call's deadline.
  grpc::Status Hang(const grpc::ServerContext& context);
  // The status of an input; not OK: it gets no answer.
  v1::Status StatusOf(const std::string& text);

  // One of the fields below.
  template <class T>
  T Get(T FakeCalls::*field) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return this->*field;
  }
  template <class T>
  void Set(T FakeCalls::*field, const T& value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    this->*field = value;
  }

  int calls = 0;
  int most_in_flight = 0;
  std::string request_id;
  std::string authorization;
  v1::GenerateRequest last_generate;
  v1::EmbedRequest last_embed;
  v1::ClassifyRequest last_classify;
  v1::FillMaskRequest last_fill_mask;
  v1::RerankRequest last_rerank;

 private:
  mutable std::mutex mutex_;
  std::condition_variable stop_;
  std::deque<FakeFailure> failures_;
  bool stopping_ = false;
  bool refuse_input_ = false;
  int in_flight_ = 0;
};

}  // namespace attend

#endif  // ATTEND_TESTS_CLIENT_FAKE_FAKE_CALLS_H_
