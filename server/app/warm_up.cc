#include "server/app/warm_up.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "server/scheduler/request.h"

namespace attend {
namespace {

// The length of a sentence; and more new tokens than one step makes.
constexpr int kSourceTokens = 16;
constexpr int kNewTokens = 8;

class Listener final : public RequestListener {
 public:
  bool cancelled() const override { return false; }
  void OnOutput(const SequenceOutput&, const RequestTimes&) override {}
  void OnDone(const absl::Status&, const SequenceOutput&,
              const RequestTimes&) override {
    done_.Notify();
  }
  void Wait() { done_.WaitForNotification(); }

 private:
  absl::Notification done_;
};

// Nothing where the model can do none of these.
std::optional<EngineRequest> ShortRequest(const ModelInfo& info) {
  const int vocab =
      info.continues_source ? info.target_vocab : info.source_vocab;
  const int tokens = std::min(kSourceTokens, info.max_source_tokens);
  if (vocab <= 0 || tokens <= 0) return std::nullopt;
  std::vector<int> ids(tokens);
  for (int i = 0; i < tokens; ++i) ids[i] = i % vocab;
  EngineRequest request;
  if (info.continues_source) {
    request.input = Prompt{.ids = std::move(ids)};
  } else {
    request.input = SourceTokens{.ids = std::move(ids)};
  }
  if (info.generates) {
    GenerationParams params = info.generation;
    params.max_new_tokens = kNewTokens;
    params.min_new_tokens = 0;
    // The model's own mode may be none.
    params.num_return_sequences = 1;
    if (params.do_sample) params.num_beams = 1;
    params.num_beams = std::min(params.num_beams, info.max_beams);
    request.task = GenerateTask{std::move(params)};
  } else if (info.embeds) {
    const bool sparse = !info.pools && info.weighs_tokens;
    request.task = EmbedTask{.pooled = info.pools,
                             .sparse = sparse,
                             .token_vectors = !info.pools && !sparse};
  } else if (info.classifies || info.finds_spans || info.chooses) {
    request.task = ClassifyTask();
  } else if (info.fills_masks) {
    request.task = FillMaskTask{.rows = {0}};
  } else {
    return std::nullopt;
  }
  return request;
}

}  // namespace

bool WarmUp(const Engine& engine, Scheduler& scheduler) {
  std::optional<EngineRequest> work = ShortRequest(engine.info());
  if (!work.has_value()) return false;
  auto sequence = engine.NewSequence(*std::move(work));
  if (!sequence.ok()) return false;
  Listener listener;
  auto request = std::make_unique<Request>();
  request->id = "warm-up";
  request->source_tokens =
      std::min(kSourceTokens, engine.info().max_source_tokens);
  request->sequence = *std::move(sequence);
  request->listener = &listener;
  if (!scheduler.Submit(request).ok()) return false;
  listener.Wait();
  return true;
}

}  // namespace attend
