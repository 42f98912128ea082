#ifndef ATTEND_SERVER_SERVICE_BATCH_HANDLER_H_
#define ATTEND_SERVER_SERVICE_BATCH_HANDLER_H_

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/check.h"
#include "server/service/engine_handler.h"
#include "server/service/input_window.h"

namespace attend {

// The work behind a unary call of several inputs. The call is answered once,
// when all inputs have ended; the answer has a result for each input, or for
// each group of inputs. If all results fail with the same code, the call itself
// fails with the status of the first one.
template <class Request, class Response>
class BatchHandler : public EngineHandler<Request> {
 public:
  BatchHandler(const Service& service, CallContext& context)
      : EngineHandler<Request>(service, context, /*streaming=*/false),
        window_(service) {}

  // Fills the results of the inputs that have ended since the last call of this
  // function. Thus little work is left when the last input ends.
  void Continue(Responder& to) final {
    if (response_.results_size() == 0) MakeResults();
    // An input that is submitted may end at once.
    while (this->TakeEnded(ended_)) {
      FillEnded();
      window_.Submit(this->inputs(), this->size(), this->running());
    }
    if (filled_ < response_.results_size()) return;
    const absl::Status status = CommonError();
    if (status.ok()) {
      response_.set_model(this->info().name);
      Arrange(*response_.mutable_results());
      // The message ends here, and not when the client has read the answer.
      to.Send(std::exchange(response_, {}));
    }
    to.Finish(status);
  }

 protected:
  using Results = std::remove_pointer_t<
      decltype(std::declval<Response&>().mutable_results())>;
  using Result = typename Results::value_type;

  // The inputs of result i end before input `ends[i]`; those of the next one
  // follow. To be called in Prepare(), if at all: else each input has a result.
  void SetGroups(std::vector<int> ends) { ends_ = std::move(ends); }
  InputRange inputs_of(int result) const {
    if (ends_.empty()) return {result, result + 1};
    return {result == 0 ? 0 : ends_[result - 1], ends_[result]};
  }

  // Submits an input, at once or when its turn comes: for calls that may have
  // thousands of inputs. INVALID_ARGUMENT, which names `field`, if the call
  // takes too much memory.
  absl::Status Enqueue(int index, WaitingInput input, absl::string_view field) {
    return window_.Add(this->inputs(), index, this->running(), std::move(input),
                       field);
  }

  // Fills a result whose inputs ended with OK. Status, usage and timings are
  // filled already. The values of the inputs are dropped afterwards.
  virtual void Fill(int result, Result& to) = 0;
  // True: they are kept, for Arrange().
  virtual bool keeps_values() const { return false; }
  // Called once, when all results are filled. They are in the order of the
  // inputs; an override may sort them.
  virtual void Arrange(Results&) {}

 private:
  void MakeResults() {
    const int results =
        ends_.empty() ? this->size() : static_cast<int>(ends_.size());
    response_.mutable_results()->Reserve(results);
    while (response_.results_size() < results) response_.add_results();
    left_.reserve(results);
    for (int r = 0; r < results; ++r) left_.push_back(inputs_of(r).size());
  }

  int ResultOf(int input) const {
    if (ends_.empty()) return input;
    return static_cast<int>(
        std::upper_bound(ends_.begin(), ends_.end(), input) - ends_.begin());
  }

  void FillEnded() {
    for (const int input : ended_) {
      const int result = ResultOf(input);
      if (--left_[result] == 0) FillResult(result);
    }
  }

  void FillResult(int result) {
    const InputRange range = inputs_of(result);
    Result& to = *response_.mutable_results(result);
    if (this->FillOutcome(range, to).ok()) Fill(result, to);
    ++filled_;
    if (keeps_values()) return;
    for (int i = range.begin; i < range.end; ++i) this->input(i).DropValues();
  }

  // The error with which all results failed.
  absl::Status CommonError() const {
    const absl::Status first = this->StatusOf(inputs_of(0));
    for (int r = 1; r < response_.results_size(); ++r) {
      if (response_.results(r).status().code() !=
          response_.results(0).status().code()) {
        return absl::OkStatus();
      }
    }
    return first;
  }

  Response response_;
  InputWindow window_;
  std::vector<int> ends_;   // of the groups; empty: each input is one
  std::vector<int> ended_;  // inputs that were taken last
  std::vector<int> left_;   // by result: inputs that have not ended
  int filled_ = 0;          // results
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_BATCH_HANDLER_H_
