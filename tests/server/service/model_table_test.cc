// Which model a call of a name gets.

#include "server/service/model_table.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/server/service/service_fixture.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// "fake", version 2 of it as "fake@2", and "broken".
class ModelTableTest : public ServiceFixture {
 protected:
  ModelTableTest() {
    Build({});
    second_metrics_ = metrics_.AddModel("fake@2");
    second_metrics_->Serve(engine_->info(), 2);
    models_.Put(std::make_shared<const ModelEntry>(ModelEntry{
        .name = "fake@2",
        .calls = *second_metrics_,
        .served =
            ServedModel{*engine_, tokenizer_, *scheduler_, *second_metrics_},
        .version = 2}));
    AddBroken("broken", absl::InternalError("no file"));
  }

  // How many of some calls of the name the model gets.
  int Calls(const std::string& name, const std::string& model, int calls) {
    int count = 0;
    for (int i = 0; i < calls; ++i)
      count += models_.Choose(name)->name == model;
    return count;
  }
  std::string Metric(const std::string& alias, const std::string& model,
                     int version, int value) {
    return absl::StrCat("attend_alias_calls_total{alias=\"", alias,
                        "\",model=\"", model, "\",version=\"", version, "\"} ",
                        value, "\n");
  }

  std::shared_ptr<ModelMetrics> second_metrics_;
};

TEST_F(ModelTableTest, CallsOfAnAliasAreShared) {
  ASSERT_TRUE(models_.SetAlias({"a", {{"fake", 95}, {"fake@2", 5}}}).ok());
  EXPECT_NEAR(Calls("a", "fake@2", 1000), 50, 10);
  EXPECT_EQ(models_.Find("a"), nullptr);
  EXPECT_EQ(models_.Aliases().size(), 1u);
  // Names themselves mean what they did.
  EXPECT_EQ(Calls("fake", "fake", 10), 10);
  EXPECT_EQ(Calls("fake@2", "fake@2", 10), 10);
  // The next ones go elsewhere.
  ASSERT_TRUE(models_.SetAlias({"a", {{"fake@2"}}}).ok());
  EXPECT_EQ(Calls("a", "fake@2", 10), 10);
  ASSERT_TRUE(models_.SetAlias({"a", {}}).ok());
  EXPECT_EQ(models_.Choose("a"), nullptr);
  EXPECT_TRUE(models_.Aliases().empty());
}

TEST_F(ModelTableTest, AnAliasMayHaveTheNameOfAModel) {
  ASSERT_TRUE(models_.SetAlias({"fake", {{"fake", 1}, {"fake@2", 1}}}).ok());
  EXPECT_NEAR(Calls("fake", "fake@2", 100), 50, 2);
  EXPECT_EQ(models_.DefaultName(), "fake");
  EXPECT_EQ(models_.Find("fake")->version, 1);
  EXPECT_EQ(models_.Find("")->version, 1);
}

TEST_F(ModelTableTest, WhatIsNotReadyIsNotChosen) {
  ASSERT_TRUE(
      models_.SetAlias({"a", {{"broken", 99}, {"fake", 1}, {"fake@2", 1}}})
          .ok());
  EXPECT_EQ(Calls("a", "broken", 200), 0);
  EXPECT_TRUE(models_.Remove("fake"));
  EXPECT_EQ(Calls("a", "fake@2", 20), 20);
  // Of none that is ready, one that says why.
  EXPECT_TRUE(models_.Remove("fake@2"));
  EXPECT_EQ(models_.Choose("a")->name, "broken");
  EXPECT_TRUE(models_.Remove("broken"));
  EXPECT_EQ(models_.Choose("a"), nullptr);
}

TEST_F(ModelTableTest, SharesAreCountedByVersion) {
  ASSERT_TRUE(models_.SetAlias({"a", {{"fake", 9}, {"fake@2", 1}}}).ok());
  const int second = Calls("a", "fake@2", 100);
  Calls("fake", "fake", 5);
  EXPECT_THAT(metrics_.Serialize(),
              HasSubstr(Metric("a", "fake", 1, 100 - second)));
  EXPECT_THAT(metrics_.Serialize(),
              HasSubstr(Metric("a", "fake@2", 2, second)));
  // Series are no more than there are aliases and models.
  second_metrics_->OnAlias("a", 3);
  EXPECT_THAT(metrics_.Serialize(), HasSubstr(Metric("a", "fake@2", 3, 1)));
  EXPECT_THAT(metrics_.Serialize(),
              Not(HasSubstr(Metric("a", "fake@2", 2, second))));
  ASSERT_TRUE(models_.SetAlias({"a", {}}).ok());
  EXPECT_THAT(metrics_.Serialize(), Not(HasSubstr("alias=\"a\"")));
}

TEST_F(ModelTableTest, WrongAliasesAreRefused) {
  const absl::Status unknown = models_.SetAlias({"a", {{"fake"}, {"none"}}});
  EXPECT_EQ(unknown, absl::NotFoundError(
                         "alias 'a' names model 'none', which is not served"));
  EXPECT_EQ(models_.SetAlias({"a", {}}),
            absl::NotFoundError("there is no alias 'a'"));
  EXPECT_EQ(models_.SetAlias({"a", {{""}}}).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(models_.SetAlias({"a", {{"fake", 0}}}).code(),
            absl::StatusCode::kInvalidArgument);
  for (size_t i = 0; i < ModelTable::kMaxAliases; ++i) {
    ASSERT_TRUE(models_.SetAlias({absl::StrCat("a", i), {{"fake"}}}).ok());
  }
  EXPECT_EQ(
      models_.SetAlias({"a", {{"fake"}}}),
      absl::ResourceExhaustedError("there are 256 aliases, no more may be"));
  EXPECT_TRUE(models_.SetAlias({"a7", {{"fake@2"}}}).ok());
}

TEST_F(ModelTableTest, TheOneThatCallsGotLongestAgoGoesFirst) {
  EXPECT_NE(models_.Choose("fake"), nullptr);
  // It has a call, the other one is kept, and a broken one has no memory.
  SharedModel used = models_.Find("fake@2");
  EXPECT_EQ(models_.RemoveIdle("fake"), nullptr);
  EXPECT_EQ(models_.RemoveIdle("none")->name, "fake");
  EXPECT_EQ(models_.Find("fake"), nullptr);
  EXPECT_EQ(models_.RemoveIdle(""), nullptr);
  // Who has come, and who was called, is in use.
  models_.Put(std::make_shared<const ModelEntry>(ModelEntry{
      .name = "fake", .calls = used->calls, .served = used->served}));
  used.reset();
  EXPECT_NE(models_.Choose("fake@2"), nullptr);
  EXPECT_EQ(models_.RemoveIdle("")->name, "fake");
  EXPECT_EQ(models_.RemoveIdle("")->name, "fake@2");
}

// What a call asks for twice is the same both times.
TEST_F(ModelTableTest, ACallStaysWithItsModel) {
  ASSERT_TRUE(models_.SetAlias({"a", {{"fake", 1}, {"fake@2", 1}}}).ok());
  int second = 0;
  for (int i = 0; i < 20; ++i) {
    v1::GenerateRequest request = Generate("abc", 1);
    request.set_model("a");
    LocalCall call = NewCall("Generate", request);
    call.Run();
    ASSERT_EQ(call.end(), absl::OkStatus());
    second += call.model()->name == "fake@2";
    EXPECT_EQ(call.called(), "a");
  }
  EXPECT_NEAR(second, 10, 2);
}

}  // namespace
}  // namespace attend
