#include "client/cpp/load.h"

#include <chrono>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "attend/v1/attend.grpc.pb.h"
#include "client/cpp/channel.h"
#include "client/cpp/statistics.h"

namespace attend {

struct LoadGenerator::Channel {
  explicit Channel(const std::string& address)
      : stub(v1::Attend::NewStub(OpenChannel(address))) {}

  const std::unique_ptr<v1::Attend::Stub> stub;
};

namespace {

// Time since some start, on a clock that is never set.
absl::Duration Clock() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

// One call with one operation in flight on the completion queue, whose tag is
// the call.
class Call {
 public:
  Call(absl::Duration due, absl::Duration timeout) : due_(due) {
    SetTimeout(context_, timeout);
  }
  virtual ~Call() = default;

  // Handles the end of the operation. False: that was the last.
  virtual bool Proceed(bool ok) = 0;
  void Cancel() { context_.TryCancel(); }

  CallRecord TakeRecord() {
    record_.code = static_cast<absl::StatusCode>(status_.error_code());
    if (status_.ok()) record_.code = input_code_;
    record_.total = Clock() - due_;
    return std::move(record_);
  }

 protected:
  void NoteInput(const v1::Status& status, const v1::Usage& usage) {
    if (status.code() != 0) {
      input_code_ = static_cast<absl::StatusCode>(status.code());
    }
    record_.tokens += usage.generated_tokens();
  }

  const absl::Duration due_;
  grpc::ClientContext context_;
  grpc::Status status_;
  absl::StatusCode input_code_ = absl::StatusCode::kOk;
  CallRecord record_;
};

class UnaryCall : public Call {
 public:
  UnaryCall(v1::Attend::Stub& stub, grpc::CompletionQueue& queue,
            const v1::GenerateRequest& request, absl::Duration due,
            absl::Duration timeout)
      : Call(due, timeout),
        reader_(stub.AsyncGenerate(&context_, request, &queue)) {
    reader_->Finish(&response_, &status_, this);
  }

  bool Proceed(bool) override {
    for (const v1::GenerateResult& result : response_.results()) {
      NoteInput(result.status(), result.usage());
    }
    return false;
  }

 private:
  v1::GenerateResponse response_;
  const std::unique_ptr<grpc::ClientAsyncResponseReader<v1::GenerateResponse>>
      reader_;
};

class StreamCall : public Call {
 public:
  StreamCall(v1::Attend::Stub& stub, grpc::CompletionQueue& queue,
             const v1::GenerateRequest& request, absl::Duration due,
             absl::Duration timeout)
      : Call(due, timeout),
        reader_(stub.AsyncGenerateStream(&context_, request, &queue, this)) {}

  bool Proceed(bool ok) override {
    if (finishing_) return false;
    if (ok && started_) Note();
    started_ = true;
    finishing_ = !ok;
    if (ok) {
      reader_->Read(&chunk_, this);
    } else {
      reader_->Finish(&status_, this);
    }
    return true;
  }

 private:
  void Note() {
    if (chunk_.has_status() || chunk_.has_usage()) {
      NoteInput(chunk_.status(), chunk_.usage());
    }
    if (chunk_.ids().empty()) return;
    const absl::Duration now = Clock();
    if (last_.empty()) record_.first_token = now - due_;
    const auto [found, is_new] =
        last_.try_emplace({chunk_.input(), chunk_.choice()}, now);
    if (!is_new) record_.gaps.push_back(now - found->second);
    found->second = now;
  }

  bool started_ = false;
  bool finishing_ = false;
  v1::GenerateChunk chunk_;
  // When the last tokens of each (input, choice) came.
  std::map<std::pair<int, int>, absl::Duration> last_;
  const std::unique_ptr<grpc::ClientAsyncReader<v1::GenerateChunk>> reader_;
};

// When calls of one class are to start.
class Schedule {
 public:
  // `count`: at most so many.
  Schedule(const Load& load, int64_t count, absl::Duration start)
      : load_(load), left_(count), start_(start) {
    if (load.rate > 0) arrivals_.emplace(load.rate, load.seed);
    if (arrivals_.has_value()) due_ = start_ + arrivals_->Next();
  }

  // When the next call starts: the past for "now"; nothing while a closed loop
  // is full, and when there are no more.
  std::optional<absl::Duration> Due(absl::Duration now) const {
    if (left_ == 0) return std::nullopt;
    if (arrivals_.has_value()) return due_;
    if (in_flight_ < load_.concurrency) return now;
    return std::nullopt;
  }

  const v1::GenerateRequest& Start() {
    --left_;
    ++in_flight_;
    if (arrivals_.has_value()) due_ = start_ + arrivals_->Next();
    return load_.requests[started_++ % load_.requests.size()];
  }

  void End() { --in_flight_; }
  bool Done() const { return left_ == 0 && in_flight_ == 0; }
  const Load& load() const { return load_; }

 private:
  const Load& load_;
  int64_t left_;
  const absl::Duration start_;
  std::optional<PoissonArrivals> arrivals_;
  absl::Duration due_;
  int in_flight_ = 0;
  size_t started_ = 0;
};

class Runner {
 public:
  Runner(v1::Attend::Stub& stub, const Load& load, const Load* background)
      : stub_(stub), start_(Clock()), load_(load, load.count, start_) {
    if (background != nullptr) {
      background_.emplace(*background, INT64_MAX, start_);
    }
  }

  LoadResult Run() {
    LoadResult result;
    while (!load_.Done()) {
      WaitAndProceed(StartDue(), &result);
    }
    result.elapsed = Clock() - start_;
    for (const auto& entry : calls_) entry.first->Cancel();
    while (!calls_.empty()) {
      WaitAndProceed(absl::InfiniteDuration(), &result);
    }
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
    return result;
  }

 private:
  // Starts what is due; returns the time until the next is.
  absl::Duration StartDue() {
    absl::Duration pause = absl::InfiniteDuration();
    for (Schedule* schedule : {&load_, background_ ? &*background_ : nullptr}) {
      if (schedule == nullptr) continue;
      absl::Duration now = Clock();
      std::optional<absl::Duration> due = schedule->Due(now);
      for (; due.has_value() && *due <= now; due = schedule->Due(now)) {
        Start(*schedule, *due);
        now = Clock();
      }
      if (due.has_value()) pause = std::min(pause, *due - now);
    }
    return pause;
  }

  void Start(Schedule& schedule, absl::Duration due) {
    const v1::GenerateRequest& request = schedule.Start();
    const Load& load = schedule.load();
    std::unique_ptr<Call> call;
    if (load.stream) {
      call = std::make_unique<StreamCall>(stub_, queue_, request, due,
                                          load.timeout);
    } else {
      call = std::make_unique<UnaryCall>(stub_, queue_, request, due,
                                         load.timeout);
    }
    Call* const key = call.get();
    calls_.emplace(key, std::pair(std::move(call), &schedule));
  }

  void WaitAndProceed(absl::Duration pause, LoadResult* result) {
    void* tag = nullptr;
    bool ok = false;
    if (pause == absl::InfiniteDuration()) {
      queue_.Next(&tag, &ok);
    } else if (queue_.AsyncNext(&tag, &ok,
                                std::chrono::system_clock::now() +
                                    absl::ToChronoNanoseconds(pause)) !=
               grpc::CompletionQueue::GOT_EVENT) {
      return;
    }
    Call* const call = static_cast<Call*>(tag);
    if (call->Proceed(ok)) return;
    const auto found = calls_.find(call);
    Schedule* const schedule = found->second.second;
    schedule->End();
    if (schedule == &load_) result->calls.push_back(call->TakeRecord());
    calls_.erase(found);
  }

  v1::Attend::Stub& stub_;
  const absl::Duration start_;
  Schedule load_;
  std::optional<Schedule> background_;
  grpc::CompletionQueue queue_;
  std::unordered_map<Call*, std::pair<std::unique_ptr<Call>, Schedule*>> calls_;
};

}  // namespace

LoadGenerator::LoadGenerator(const std::string& address)
    : channel_(std::make_unique<Channel>(address)) {}

LoadGenerator::~LoadGenerator() = default;

LoadResult LoadGenerator::Run(const Load& load, const Load* background) {
  return Runner(*channel_->stub, load, background).Run();
}

}  // namespace attend
