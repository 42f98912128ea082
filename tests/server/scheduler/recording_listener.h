#ifndef ATTEND_TESTS_SERVER_SCHEDULER_RECORDING_LISTENER_H_
#define ATTEND_TESTS_SERVER_SCHEDULER_RECORDING_LISTENER_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/scheduler/request.h"
#include "tests/support/fake_engine.h"
#include "tests/support/fake_results.h"

namespace attend {

// Keeps what it was told. Only the worker writes; read after Wait() or while
// the worker stands at the gate.
class RecordingListener final : public RequestListener {
 public:
  bool cancelled() const override { return cancelled_; }
  void OnOutput(const SequenceOutput& output,
                const RequestTimes& times) override {
    EXPECT_FALSE(done_);
    EXPECT_EQ(output.choices.size(), 1u);
    EXPECT_GT(output.choices[0].tokens.size(), static_cast<size_t>(tokens_));
    tokens_ = static_cast<int>(output.choices[0].tokens.size());
    if (first_token_step_ < 0 && engine_ != nullptr) {
      first_token_step_ = engine_->steps();
    }
    EXPECT_NE(times.first_token, absl::InfinitePast());
  }
  void OnDone(const absl::Status& status, const SequenceOutput& output,
              const RequestTimes& times) override {
    std::lock_guard<std::mutex> lock(mutex_);
    EXPECT_FALSE(done_) << "OnDone twice";
    done_ = true;
    status_ = status;
    times_ = times;
    final_ = output;
    if (engine_ != nullptr) done_step_ = engine_->steps();
    changed_.notify_all();
  }

  const absl::Status& Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return done_.load(); });
    return status_;
  }

  const FakeEngine* engine_ = nullptr;  // if set: steps are recorded
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> done_ = false;
  std::atomic<int> tokens_ = 0;
  int64_t first_token_step_ = -1;
  int64_t done_step_ = -1;
  absl::Status status_;
  RequestTimes times_;
  SequenceOutput final_;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

inline std::unique_ptr<Request> MakeRequest(const FakeEngine& engine,
                                            RecordingListener& listener,
                                            EngineRequest work) {
  auto request = std::make_unique<Request>();
  request->source_tokens =
      static_cast<int>(std::get<SourceTokens>(work.input).ids.size());
  request->sequence = *engine.NewSequence(std::move(work));
  request->listener = &listener;
  return request;
}

inline std::unique_ptr<Request> MakeRequest(const FakeEngine& engine,
                                            RecordingListener& listener,
                                            const FakeTask& task) {
  return MakeRequest(engine, listener, MakeFakeRequest(task));
}

inline void ExpectTokens(const RecordingListener& listener,
                         const FakeTask& task) {
  const std::vector<int>& tokens = listener.final_.choices.at(0).tokens;
  ASSERT_EQ(static_cast<int>(tokens.size()), task.tokens);
  for (int i = 0; i < task.tokens; ++i) {
    EXPECT_EQ(tokens[i], FakeToken(task.source, i));
  }
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_SCHEDULER_RECORDING_LISTENER_H_
