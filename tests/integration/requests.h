#ifndef ATTEND_TESTS_INTEGRATION_REQUESTS_H_
#define ATTEND_TESTS_INTEGRATION_REQUESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "attend/v1/attend.pb.h"
#include "client/cpp/lib/client.h"

namespace attend {

// Sentences of different lengths, by number; they come again after a while.
std::string Sentence(int number);

// Greedy, one input a text.
v1::GenerateRequest Greedy(const std::vector<std::string>& texts);
// The same with exactly `tokens` new tokens for each input.
v1::GenerateRequest Exactly(const std::vector<std::string>& texts, int tokens);
// The three modes by number, with log-probabilities and several results.
v1::GenerateRequest Mixed(int number);

// The chunks of GenerateStream put together as Generate answers.
absl::StatusOr<v1::GenerateResponse> Collect(
    Client& client, const v1::GenerateRequest& request);

// All bits of an answer but its times, for comparing.
std::string Bits(v1::GenerateResponse response);
std::string Bits(v1::ScoreResponse response);

// The only result of a request that must succeed.
v1::GenerateResult Only(const absl::StatusOr<v1::GenerateResponse>& response);

}  // namespace attend

#endif  // ATTEND_TESTS_INTEGRATION_REQUESTS_H_
