// Several models in one process, one of them broken.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Golden(const std::string& name) {
  return absl::StrCat(ATTEND_SOURCE_DIR "/tests/golden/marian/", name);
}

// A directory of models: two that load and one that does not.
class ModelsTest : public ::testing::Test {
 protected:
  ModelsTest() {
    std::string name = ::testing::TempDir() + "attend_XXXXXX";
    directory_ = mkdtemp(name.data());
    for (const char* model : {"plain", "relu", "flax-only"}) {
      fs::create_directory_symlink(Golden(model), directory_ / model);
    }
  }
  ~ModelsTest() override { fs::remove_all(directory_); }

  std::string ModelsDir() const {
    return "--models-dir=" + directory_.string();
  }

  fs::path directory_;
};

// Greedy ids of the model's golden cases, asked for one after the other.
void ExpectGolden(Client& client, const std::string& model) {
  std::ifstream file(Golden(model) + "/expected.json");
  const auto expected = nlohmann::json::parse(file);
  int count = 0;
  for (const auto& one : expected["generate"]) {
    if (one["name"] != "greedy") continue;
    v1::GenerateRequest request = Greedy({});
    request.set_model(model);
    auto& ids = *request.add_inputs()->mutable_tokens()->mutable_ids();
    for (int id : one["source"]) ids.Add(id);
    request.mutable_params()->set_max_new_tokens(
        one["params"]["max_new_tokens"]);
    const auto response = client.Generate(request);
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response->model(), model);
    const auto& choice = response->results(0).choices(0);
    EXPECT_EQ(std::vector<int>(choice.ids().begin(), choice.ids().end()),
              one["choices"][0]["ids"].get<std::vector<int>>());
    ++count;
  }
  EXPECT_GT(count, 0);
}

TEST_F(ModelsTest, BothAnswerAtOnceAndTheBrokenOneIsReported) {
  ServerProcess server({ModelsDir(), "--default-model=plain"});
  EXPECT_THAT(server.process().output(),
              HasSubstr("event=model_failed model=flax-only error="));
  std::vector<std::thread> threads;
  for (const char* model : {"plain", "relu", "plain", "relu"}) {
    threads.emplace_back([&server, model] {
      Client client(server.client_options());
      for (int round = 0; round < 3; ++round) ExpectGolden(client, model);
    });
  }
  for (std::thread& thread : threads) thread.join();

  Client client(server.client_options());
  const auto by_default = client.Generate(Exactly({"a small dog"}, 2));
  ASSERT_TRUE(by_default.ok()) << by_default.status();
  EXPECT_EQ(by_default->model(), "plain");
  v1::GenerateRequest broken = Greedy({"a small dog"});
  broken.set_model("flax-only");
  const absl::Status status = client.Generate(broken).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("transformers 4 reads it"));
  EXPECT_THAT(status.message(), Not(HasSubstr(directory_.string())));
  const auto models = client.ListModels();
  ASSERT_TRUE(models.ok());
  ASSERT_EQ(models->models_size(), 3);
  EXPECT_EQ(models->models(0).name(), "plain");
  EXPECT_THAT(models->models(1).error(), HasSubstr("flax_model.msgpack"));
  EXPECT_THAT(models->models(1).error(), Not(HasSubstr(directory_.string())));

  // It serves what it can.
  EXPECT_EQ(server.Get("/readyz").code, 200);
  EXPECT_EQ(server.Metric("attend_model_ready{model=\"plain\"}"), 1);
  EXPECT_EQ(server.Metric("attend_model_ready{model=\"flax-only\"}"), 0);
  for (const char* model : {"plain", "relu"}) {
    EXPECT_GT(server.Metric(absl::StrCat(
                  "attend_generated_tokens_total{model=\"", model, "\"}")),
              0);
    EXPECT_GT(server.Metric(absl::StrCat("attend_kv_blocks_capacity{model=\"",
                                         model, "\"}")),
              0);
  }
  EXPECT_EQ(server.Stop(), 0);
  EXPECT_THAT(server.process().output(),
              HasSubstr("model=relu model_version=1 method=Generate"));
}

TEST_F(ModelsTest, NothingToServeIsAnErrorThatNamesEach) {
  Process server({ATTEND_SERVER, "--port=0", "--http-port=0",
                  "--model=a=" + Golden("flax-only"), "--model=b=/no/such"});
  EXPECT_FALSE(server.WaitForOutput("event=ready"));
  EXPECT_EQ(server.Wait(), 1);
  const std::string log = server.output();
  EXPECT_THAT(log, HasSubstr("event=model_failed model=a "));
  EXPECT_THAT(log, HasSubstr("event=model_failed model=b "));
  EXPECT_THAT(log, HasSubstr("none of the 2 models could be loaded"));
}

}  // namespace
}  // namespace attend
