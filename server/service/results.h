#ifndef ATTEND_SERVER_SERVICE_RESULTS_H_
#define ATTEND_SERVER_SERVICE_RESULTS_H_

#include "absl/status/status.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/output.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/service/input_state.h"

namespace attend {

// From the engine's terms to the API's.

v1::FinishReason ToProto(FinishReason reason);
v1::Status ToProto(const absl::Status& status);

void SetLogProb(int id, float log_prob, const Tokenizer& tokenizer,
                v1::TokenLogProb* to);

// Log-probabilities of choice.tokens from `begin` on, with `top` alternatives
// each. Nothing if the choice has none.
void AddLogProbs(const ChoiceOutput& choice, size_t begin, int top,
                 const Tokenizer& tokenizer,
                 google::protobuf::RepeatedPtrField<v1::TokenLogProbs>* to);

v1::Usage MakeUsage(const InputFacts& facts, const SequenceOutput& output);

// Since `arrival` of the call; what has not happened is left out.
v1::Timings MakeTimings(const RequestTimes& times, absl::Time arrival);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_RESULTS_H_
