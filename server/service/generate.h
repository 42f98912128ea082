#ifndef ATTEND_SERVER_SERVICE_GENERATE_H_
#define ATTEND_SERVER_SERVICE_GENERATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/generation_params.h"
#include "server/service/alignment.h"
#include "server/service/choice_text.h"
#include "server/service/input_state.h"
#include "server/service/service.h"
#include "server/service/source.h"
#include "server/service/translation_languages.h"

namespace attend {

// An input to generate for, as InputState::Submit() takes it.
struct GenerateInput {
  EngineRequest request;
  InputFacts facts;
  OutputLimits limits;
};

// What all calls that generate share: a request is checked and submitted in the
// same way, and prompts are returned in the same way.
class GenerateCall {
 public:
  // See the functions of EngineHandler that have the same names. `model` must
  // outlive the GenerateCall.
  absl::StatusOr<int> Prepare(const v1::GenerateRequest& request,
                              const Service& service, const ServedModel& model,
                              CallContext& call);
  // Reads the constraint; see EngineHandler.
  absl::Status PrepareInSandbox(const v1::GenerateRequest& request,
                                const CallContext& call);
  absl::Status Submit(const v1::GenerateRequest& request, int index,
                      InputState& input);

  // The two for inputs that are not counted, and not submitted at once. Read()
  // returns nullopt if an input is empty: EmptyOutput() is the output. `field`
  // names the input in errors.
  absl::Status PrepareInputs(const v1::GenerateRequest& request,
                             const ServedModel& model);
  absl::StatusOr<std::optional<GenerateInput>> Read(
      const v1::GenerateRequest& request, int index, const std::string& field,
      const CallContext& call);
  SequenceOutput EmptyOutput() const;

  const GenerationParams& params() const { return params_; }
  // A new ChoiceText for one result of an input. The GenerateCall must outlive
  // the ChoiceText.
  ChoiceText NewText(size_t input) const {
    return ChoiceText(model_->tokenizer, params_.stop_strings, before_[input],
                      thoughts_[input]);
  }
  // True if results have to return the prompt: its text, or the
  // log-probabilities of its tokens.
  bool wants_prompt() const { return echo_ || params_.prompt_log_probs; }
  const SourceAlignments& alignments() const { return alignments_; }
  // Fills one result of an input.
  void FillChoice(int input, const ChoiceOutput& choice, v1::Choice& to) const;
  // Fills what a result returns of the prompt of `input`. `output` is what the
  // engine computed of that prompt.
  void FillPrompt(size_t input, const ChoiceOutput& output,
                  v1::Prompt& to) const;

 private:
  absl::StatusOr<GenerateInput> ReadSource(const v1::GenerateRequest& request,
                                           const std::string& field,
                                           Source source) const;

  const ServedModel* model_ = nullptr;
  GenerationParams params_;
  TranslationLanguages languages_;
  uint64_t cache_salt_ = 0;  // see EngineRequest; 0: the tenant's
  // For each input the ids that its results continue. Empty for an
  // encoder-decoder, whose results continue nothing.
  std::vector<std::vector<int>> before_;
  std::vector<Thought> thoughts_;   // of the inputs: how results may begin
  CallContext* context_ = nullptr;  // null: not told of thoughts
  bool echo_ = false;               // the prompt is to be returned
  SourceAlignments alignments_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_GENERATE_H_
