#include "tests/integration/requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace attend {
namespace {

template <typename Response>
std::string BitsOf(Response response) {
  for (auto& result : *response.mutable_results()) result.clear_timings();
  return response.SerializeAsString();
}

void Append(const v1::GenerateChunk& chunk, v1::GenerateResult& result) {
  if (chunk.has_status()) {
    *result.mutable_status() = chunk.status();
    *result.mutable_usage() = chunk.usage();
    *result.mutable_timings() = chunk.timings();
    if (chunk.status().code() != 0) return;
  }
  while (result.choices_size() <= chunk.choice()) result.add_choices();
  v1::Choice& choice = *result.mutable_choices(chunk.choice());
  EXPECT_EQ(choice.finish_reason(), v1::FINISH_REASON_UNSPECIFIED)
      << "a chunk after the last one";
  choice.mutable_ids()->MergeFrom(chunk.ids());
  choice.mutable_text()->append(chunk.text());
  choice.mutable_log_probs()->MergeFrom(chunk.log_probs());
  choice.set_finish_reason(chunk.finish_reason());
  choice.set_score(chunk.score());
}

}  // namespace

std::string Sentence(int number) {
  static constexpr std::array kSentences = {
      "A man is riding a bicycle down a narrow street.",
      "Hello!",
      "Please send me the documents before the end of the week.",
      "Two children are sitting on a wall and eating ice cream.",
      "Although it had rained all night, the streets were already dry when we "
      "left the house in the morning.",
      "The train to the city leaves at nine.",
      "A brown dog is running along the beach with a stick in its mouth.",
      "She asked whether the library would still be open on Sunday, because "
      "she had to return three books and wanted to borrow a new one."};
  return kSentences[number % kSentences.size()];
}

v1::GenerateRequest Greedy(const std::vector<std::string>& texts) {
  v1::GenerateRequest request;
  for (const std::string& text : texts) request.add_inputs()->set_text(text);
  request.mutable_params()->set_num_beams(1);
  return request;
}

v1::GenerateRequest Exactly(const std::vector<std::string>& texts, int tokens) {
  v1::GenerateRequest request = Greedy(texts);
  request.mutable_params()->set_min_new_tokens(tokens);
  request.mutable_params()->set_max_new_tokens(tokens);
  return request;
}

v1::GenerateRequest Mixed(int number) {
  v1::GenerateRequest request = Greedy({Sentence(number / 3)});
  v1::GenerationParams& params = *request.mutable_params();
  params.set_log_probs(true);
  if (number % 3 == 1) {
    params.set_do_sample(true);
    params.set_seed(number);
    params.set_num_return_sequences(2);
  } else if (number % 3 == 2) {
    params.set_num_beams(4);
    params.set_num_return_sequences(3);
  }
  return request;
}

absl::StatusOr<v1::GenerateResponse> Collect(
    Client& client, const v1::GenerateRequest& request) {
  v1::GenerateResponse response;
  response.set_model("en-de");
  for (int i = 0; i < request.inputs_size(); ++i) response.add_results();
  const absl::Status status =
      client.GenerateStream(request, [&](const v1::GenerateChunk& chunk) {
        Append(chunk, *response.mutable_results(chunk.input()));
        return true;
      });
  if (!status.ok()) return status;
  return response;
}

std::string Bits(v1::GenerateResponse response) {
  return BitsOf(std::move(response));
}
std::string Bits(v1::ScoreResponse response) {
  return BitsOf(std::move(response));
}

v1::GenerateResult Only(const absl::StatusOr<v1::GenerateResponse>& response) {
  if (!response.ok() || response->results_size() != 1) {
    ADD_FAILURE() << response.status();
    return {};
  }
  EXPECT_EQ(response->results(0).status().code(), 0)
      << response->results(0).status().message();
  return response->results(0);
}

}  // namespace attend
