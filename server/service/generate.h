#ifndef ATTEND_SERVER_SERVICE_GENERATE_H_
#define ATTEND_SERVER_SERVICE_GENERATE_H_

#include <string>

#include "absl/status/status.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/generation_params.h"
#include "server/service/choice_text.h"
#include "server/service/handler.h"
#include "server/service/input_state.h"
#include "server/service/inputs.h"
#include "server/service/results.h"
#include "server/service/service.h"

namespace attend {

// What Generate and GenerateStream share: a request, checked and submitted.
struct GenerateCall {
  const ServedModel* model = nullptr;
  GenerationParams params;
  Inputs inputs;
  // For each input the ids that its results continue; none where they do not.
  std::vector<std::vector<int>> before;
  bool echo = false;  // the prompt is to be returned

  // Fails only for what concerns the whole request; an input that is wrong or
  // refused ends with its own status.
  absl::Status Start(const v1::GenerateRequest& request, bool streaming,
                     const Service& service, CallContext& context);

  // The text of one result of an input, from its start. Borrows this.
  ChoiceText NewText(size_t input) const {
    return ChoiceText(model->tokenizer, params.stop_strings, before[input]);
  }

  bool wants_prompt() const { return echo || params.prompt_log_probs; }
  // What is to be told of an input's prompt, given the engine's output for it.
  void FillPrompt(size_t input, const ChoiceOutput& output,
                  v1::Prompt& to) const;

 private:
  absl::Status StartInput(const v1::GenerateRequest& request, int index);
  // `field` names the input in errors.
  absl::Status Submit(const v1::GenerateRequest& request,
                      const std::string& field, Source source,
                      InputState& input);
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_GENERATE_H_
