#include "client/cpp/lib/affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "attend/v1/attend.pb.h"
#include "client/cpp/lib/client.h"
#include "tests/client/fake/fake_service.h"

namespace attend {
namespace {

// SHA-256 of "abc".
constexpr char kAbc[] = "ba7816bf8f01cfea";

TEST(AffinityKeyTest, IsOfTheFirstBytesOfTheFirstText) {
  v1::GenerateRequest generate;
  generate.add_inputs()->set_text("abcd");
  generate.add_inputs()->set_text("x");
  EXPECT_EQ(AffinityKey(generate, 3), kAbc);
  EXPECT_NE(AffinityKey(generate, 4), kAbc);
  EXPECT_EQ(AffinityKey(generate, 4), AffinityKey(generate, 1000));

  v1::TranslateRequest translate;
  translate.add_documents("abc");
  EXPECT_EQ(AffinityKey(translate, 3), kAbc);
  v1::ScoreRequest score;
  score.add_pairs()->mutable_source()->set_text("abc");
  EXPECT_EQ(AffinityKey(score, 3), kAbc);
  v1::TokenizeRequest tokenize;
  tokenize.add_texts("abc");
  EXPECT_EQ(AffinityKey(tokenize, 3), kAbc);
  v1::RerankRequest rerank;
  rerank.set_query("abc");
  EXPECT_EQ(AffinityKey(rerank, 3), kAbc);
  rerank.add_documents("x");
  EXPECT_NE(AffinityKey(rerank, 3), kAbc);
}

TEST(AffinityKeyTest, WhatAsksAboutNothingHasNone) {
  EXPECT_EQ(AffinityKey(v1::GenerateRequest(), 3), "");
  EXPECT_EQ(AffinityKey(v1::RerankRequest(), 3), "");
  EXPECT_EQ(AffinityKey(v1::ListModelsRequest(), 3), "");
}

class AffinityTest : public ::testing::Test {
 protected:
  static v1::GenerateRequest Request(int i) {
    v1::GenerateRequest request;
    request.add_inputs()->set_text(absl::StrCat(i, " and more"));
    return request;
  }

  FakeService one_;
  std::unique_ptr<FakeService> two_ = std::make_unique<FakeService>();
  ClientOptions options_ = {.address = one_.address() + "," + two_->address(),
                            .affinity = 4};
};

TEST_F(AffinityTest, EachKeyHasAServer) {
  Client client(options_);
  int of_two = 0;
  for (int i = 0; i < 40; ++i) {
    const int before = two_->calls();
    ASSERT_TRUE(client.Generate(Request(i)).ok());
    ASSERT_TRUE(client.Generate(Request(i)).ok());
    const int more = two_->calls() - before;
    EXPECT_TRUE(more == 0 || more == 2) << more;
    of_two += more;
  }
  EXPECT_GT(of_two, 0);
  EXPECT_LT(of_two, 80);
}

TEST_F(AffinityTest, CallsWithoutAKeyGoAnywhere) {
  Client client(options_);
  while (one_.calls() == 0 || two_->calls() == 0) {
    ASSERT_TRUE(client.ListModels().ok());
  }
}

TEST_F(AffinityTest, AServerThatDiesLeavesItsKeys) {
  Client client(options_);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(client.Generate(Request(i)).ok());
  ASSERT_GT(two_->calls(), 0);
  two_.reset();
  for (int i = 0; i < 40; ++i) {
    const auto response = client.Generate(Request(i));
    ASSERT_TRUE(response.ok()) << response.status();
  }
}

TEST_F(AffinityTest, NamesAreLookedUp) {
  // The second server goes by a name, and dies: it is looked up again.
  options_.address =
      absl::StrCat(one_.address(), ",localhost",
                   two_->address().substr(two_->address().rfind(':')));
  Client client(options_);
  while (two_->calls() == 0) ASSERT_TRUE(client.ListModels().ok());
  two_.reset();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(client.Generate(Request(i)).ok());
}

}  // namespace
}  // namespace attend
