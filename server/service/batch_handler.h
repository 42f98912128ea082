#ifndef ATTEND_SERVER_SERVICE_BATCH_HANDLER_H_
#define ATTEND_SERVER_SERVICE_BATCH_HANDLER_H_

#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "engine/tensor/mutex.h"
#include "server/service/engine_handler.h"

namespace attend {

// The work behind a unary call of several inputs. The call is answered once,
// when all inputs have ended; the answer has a result for each input. If all
// inputs fail with the same code, the call itself fails with the status of the
// first one.
template <class Request, class Response>
class BatchHandler : public EngineHandler<Request> {
 public:
  BatchHandler(const Service& service, CallContext& context)
      : EngineHandler<Request>(service, context, /*streaming=*/false) {}

  // Fills the results of the inputs that have ended since the last call of this
  // function. Thus little work is left when the last input ends.
  void Continue(Responder& to) final {
    while (response_.results_size() < this->size()) response_.add_results();
    std::vector<int> ended;
    bool all;
    absl::Status status;
    {
      MutexLock lock(this->context().mutex());
      for (int i = 0; i < this->size(); ++i) {
        const bool filled = response_.results(i).has_status();
        if (!filled && this->input(i).done()) ended.push_back(i);
      }
      all = AllDone(this->inputs());
      status = CommonError(this->inputs());
    }
    for (const int i : ended) {
      Result& result = *response_.mutable_results(i);
      this->FillOutcome(i, result);
      if (this->input(i).status().ok()) Fill(i, result);
    }
    if (!all) return;
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

  // Fills the result of one input, which ended with OK. Status, usage and
  // timings are filled already.
  virtual void Fill(int index, Result& result) = 0;
  // Called once, when all results are filled. They are in the order of the
  // inputs; an override may sort them.
  virtual void Arrange(Results&) {}

 private:
  Response response_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_BATCH_HANDLER_H_
