#include "client/cpp/lib/hedging.h"

#include <algorithm>
#include <chrono>
#include <memory>

namespace attend {
namespace {

constexpr double kMostLeft = 10;
// What a clock has room for.
constexpr absl::Duration kNever = absl::Hours(24 * 365);

// A call that runs. Its tag on the queue is itself.
struct Running {
  Running(Attempts& attempts, const BeginUnary& begin,
          grpc::CompletionQueue& queue, google::protobuf::Message& answer,
          bool is_second)
      : context(attempts.NewContext()), response(answer) {
    reader = begin(context, queue, is_second);
    reader->StartCall();
    reader->Finish(&response, &status, this);
  }

  grpc::ClientContext& context;
  google::protobuf::Message& response;
  grpc::Status status;
  std::unique_ptr<UnaryReader> reader;
};

// The next call that ends. Null: none has ended after that time.
Running* Next(grpc::CompletionQueue& queue, absl::Duration time = kNever) {
  void* tag = nullptr;
  bool ok = false;
  if (time >= kNever) {
    queue.Next(&tag, &ok);
  } else if (queue.AsyncNext(&tag, &ok,
                             std::chrono::system_clock::now() +
                                 absl::ToChronoNanoseconds(time)) !=
             grpc::CompletionQueue::GOT_EVENT) {
    return nullptr;
  }
  return static_cast<Running*>(tag);
}

}  // namespace

bool HedgeBudget::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

void HedgeBudget::AnsweredInTime() {
  const std::lock_guard<std::mutex> lock(mutex_);
  left_ = std::min(kMostLeft, left_ + 0.5);
}

AttemptOutcome CallUnaryOnce(Attempts& attempts, const BeginUnary& begin,
                             absl::Duration after, HedgeBudget& budget,
                             google::protobuf::Message& response) {
  grpc::CompletionQueue queue;
  Running first(attempts, begin, queue, response, false);
  if (Next(queue, after) != nullptr) {
    if (first.status.ok()) budget.AnsweredInTime();
    return AttemptOutcomeOf(first.context, first.status);
  }
  if (!budget.Take()) {
    Next(queue);
    return AttemptOutcomeOf(first.context, first.status);
  }
  const std::unique_ptr<google::protobuf::Message> other(response.New());
  Running second(attempts, begin, queue, *other, true);
  Running* counts = Next(queue);
  if (counts->status.ok()) {
    (counts == &first ? second : first).context.TryCancel();
    Next(queue);
  } else {
    counts = Next(queue);
  }
  if (counts == &second) response.GetReflection()->Swap(&response, other.get());
  return AttemptOutcomeOf(counts->context, counts->status);
}

}  // namespace attend
