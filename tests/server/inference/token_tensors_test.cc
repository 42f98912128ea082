#include "server/inference/token_tensors.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/server/inference/tensors.h"

namespace attend {
namespace {

using ::testing::ElementsAre;

// A token, and its alternatives with log-probabilities -1, -2 and so on.
void AddToken(float log_prob, const std::vector<int>& top,
              google::protobuf::RepeatedPtrField<v1::TokenLogProbs>& to) {
  v1::TokenLogProbs& token = *to.Add();
  token.mutable_token()->set_log_prob(log_prob);
  float next = -1;
  for (int id : top) {
    token.add_top()->set_id(id);
    token.mutable_top(token.top_size() - 1)->set_log_prob(next--);
  }
}

TEST(TokenTensorsTest, RowsArePadded) {
  v1::Choice none, one, two;
  one.add_ids(5);
  AddToken(-0.5, {7}, *one.mutable_log_probs());
  two.add_ids(8);
  two.add_ids(9);
  AddToken(-0.25, {1, 2}, *two.mutable_log_probs());
  AddToken(-0.75, {3, 4}, *two.mutable_log_probs());
  InferResponse response;
  const std::vector<std::string> wanted = {"ids", "lengths", "log_probs",
                                           "top_ids", "top_log_probs"};
  OutputTensors outputs(wanted, response);
  std::vector<TokenRow> rows;
  for (const v1::Choice* choice : {&none, &one, &two}) {
    rows.push_back({choice->ids(), choice->log_probs()});
  }
  WriteTokenRows(rows, {3, 1},
                 {.ids = "ids",
                  .lengths = "lengths",
                  .log_probs = "log_probs",
                  .top_ids = "top_ids",
                  .top_log_probs = "top_log_probs"},
                 outputs);
  EXPECT_THAT(OutputOf(response, "ids").shape, ElementsAre(3, 1, 2));
  EXPECT_THAT(OutputOf(response, "ids").numbers<int32_t>(),
              ElementsAre(-1, -1, 5, -1, 8, 9));
  EXPECT_THAT(OutputOf(response, "lengths").shape, ElementsAre(3, 1));
  EXPECT_THAT(OutputOf(response, "lengths").numbers<int32_t>(),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(OutputOf(response, "log_probs").numbers<float>(),
              ElementsAre(0, 0, -0.5, 0, -0.25, -0.75));
  EXPECT_THAT(OutputOf(response, "top_ids").shape, ElementsAre(3, 1, 2, 2));
  EXPECT_THAT(OutputOf(response, "top_ids").numbers<int32_t>(),
              ElementsAre(-1, -1, -1, -1, 7, -1, -1, -1, 1, 2, 3, 4));
  EXPECT_THAT(OutputOf(response, "top_log_probs").numbers<float>(),
              ElementsAre(0, 0, 0, 0, -1, 0, 0, 0, -1, -2, -1, -2));
}

TEST(TokenTensorsTest, AlignmentsArePadded) {
  v1::Choice one, two;
  one.mutable_alignment()->add_source(1);
  for (float weight : {0.25f, 0.75f}) {
    one.mutable_alignment()->add_weights(weight);
  }
  for (int source : {0, 2}) two.mutable_alignment()->add_source(source);
  for (float weight : {0.5f, 0.2f, 0.3f, 0.1f, 0.1f, 0.8f}) {
    two.mutable_alignment()->add_weights(weight);
  }
  InferResponse response;
  const std::vector<std::string> wanted = {"a", "w"};
  OutputTensors outputs(wanted, response);
  WriteTokenRows({{one.ids(), one.log_probs(), one.alignment()},
                  {two.ids(), two.log_probs(), two.alignment()}},
                 {2, 1}, {.alignment = "a", .alignment_weights = "w"}, outputs);
  EXPECT_THAT(OutputOf(response, "a").shape, ElementsAre(2, 1, 2));
  EXPECT_THAT(OutputOf(response, "a").numbers<int32_t>(),
              ElementsAre(1, -1, 0, 2));
  EXPECT_THAT(OutputOf(response, "w").shape, ElementsAre(2, 1, 2, 3));
  EXPECT_THAT(OutputOf(response, "w").numbers<float>(),
              ElementsAre(0.25f, 0.75f, 0, 0, 0, 0, 0.5f, 0.2f, 0.3f, 0.1f,
                          0.1f, 0.8f));
}

TEST(TokenTensorsTest, WhatIsNotWantedIsNotThere) {
  InferResponse response;
  const std::vector<std::string> wanted = {"ids"};
  OutputTensors outputs(wanted, response);
  WriteTokenRows({}, {0}, {.ids = "ids", .lengths = "lengths"}, outputs);
  EXPECT_THAT(OutputNames(response), ElementsAre("ids"));
  EXPECT_THAT(OutputOf(response, "ids").shape, ElementsAre(0, 0));
}

}  // namespace
}  // namespace attend
