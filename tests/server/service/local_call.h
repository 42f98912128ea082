#ifndef ATTEND_TESTS_SERVER_SERVICE_LOCAL_CALL_H_
#define ATTEND_TESTS_SERVER_SERVICE_LOCAL_CALL_H_

#include <condition_variable>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/tensor/check.h"
#include "engine/tensor/mutex.h"
#include "server/service/service_call.h"

namespace attend {

// A front end without a protocol: a call of this process, whose thread is the
// one that waits for it.
class LocalCall final : public ServiceCall, private Responder {
 public:
  LocalCall(const Method& method, CallEnvironment& environment,
            const google::protobuf::Message& request, CallerProof proof = {})
      : ServiceCall(method, environment),
        sent_(request),
        proof_(std::move(proof)) {}

  // False: the call is refused.
  bool Begin() {
    return ServiceCall::Begin("local", absl::InfiniteFuture(),
                              {.host = "local", .proof = proof_});
  }
  // Until it waits for a thread of the pool.
  void Submit() {
    if (Begin()) Start();
  }
  using ServiceCall::Start;
  // After Submit(). Returns when nothing can come any more.
  void Await() {
    while (true) {
      if (!starting()) {
        while (!end_ && !cancelled() && AnswerOne()) {
        }
        if ((end_ || cancelled()) && quiet()) break;
      }
      WaitForWake();
    }
    Report({end_.value_or(absl::OkStatus()), !end_.has_value()});
  }
  void Run() {
    Submit();
    Await();
  }
  // The client goes. Any thread.
  void Cancel() {
    MutexLock lock(mutex());
    cancelled_ = true;
    WakeAfterStep();  // once it has started, if it is just doing so
  }

  // The thread that wrote the last answer. Once Await() has returned.
  std::thread::id writer() const { return writer_; }
  // Once Await() has returned; no value: the client had gone.
  const std::optional<absl::Status>& end() const { return end_; }
  template <class Answer>
  std::vector<Answer> answers() const {
    std::vector<Answer> all;
    for (const std::string& bytes : answers_) {
      // A client would refuse it: for a text that is not UTF-8, say.
      ATTEND_CHECK(all.emplace_back().ParseFromString(bytes));
    }
    return all;
  }

 private:
  absl::Status ReadRequest(google::protobuf::Message& request) override {
    request.CopyFrom(sent_);
    return absl::OkStatus();
  }
  Responder& responder() override { return *this; }
  size_t request_bytes() const override { return sent_.ByteSizeLong(); }
  void PostWake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) override {
    woken_ = true;
    changed_.notify_one();
  }
  void FlushWakes() override {}

  void Send(const google::protobuf::Message& answer) override {
    answers_.push_back(answer.SerializeAsString());
    writer_ = std::this_thread::get_id();
  }
  void Finish(const absl::Status& status) override { end_ = status; }

  // False: there is none now.
  bool AnswerOne() {
    const size_t before = answers_.size();
    Answer();
    return answers_.size() > before;
  }
  void WaitForWake() {
    MutexLock lock(mutex());
    changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return woken_;
    });
    woken_ = false;
  }

  const google::protobuf::Message& sent_;
  const CallerProof proof_;
  std::vector<std::string> answers_;
  std::thread::id writer_;
  std::optional<absl::Status> end_;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  std::condition_variable changed_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_SERVICE_LOCAL_CALL_H_
