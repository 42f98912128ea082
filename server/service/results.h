#ifndef ATTEND_SERVER_SERVICE_RESULTS_H_
#define ATTEND_SERVER_SERVICE_RESULTS_H_

#include "absl/status/status.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/output.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/service/input_state.h"

namespace attend {

// What the engine computes, as messages of the API.

v1::FinishReason ToProto(FinishReason reason);
v1::Status ToProto(const absl::Status& status);

// Fills `to` with a token: its id, its piece and its log-probability.
void SetLogProb(int id, float log_prob, const Tokenizer& tokenizer,
                v1::TokenLogProb* to);

// Adds the log-probabilities of choice.tokens from `begin` on, each with `top`
// alternatives. Adds nothing if the choice has no log-probabilities.
void AddLogProbs(const ChoiceOutput& choice, size_t begin, int top,
                 const Tokenizer& tokenizer,
                 google::protobuf::RepeatedPtrField<v1::TokenLogProbs>* to);

// The numbers of tokens that an input took and gave.
v1::Usage MakeUsage(const InputFacts& facts, const SequenceOutput& output);

// The numbers of tokens of the inputs [begin, end) together, and the earliest
// and latest of their times. Of one input: its own.
v1::Usage UsageOf(const Inputs& inputs, int begin, int end);
RequestTimes TimesOf(const Inputs& inputs, int begin, int end);

// Seconds from the arrival of the call to each station of an input. A station
// that was not reached is left out.
v1::Timings MakeTimings(const RequestTimes& times, absl::Time arrival);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_RESULTS_H_
