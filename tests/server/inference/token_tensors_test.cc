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
