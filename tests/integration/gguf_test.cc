// A GGUF file as a model.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"

namespace attend {
namespace {

constexpr char kFile[] =
    ATTEND_SOURCE_DIR "/tests/golden/gguf/llama-blocks-of-32";

TEST(GgufTest, ContinuesATextAsTransformersDoes) {
  std::ifstream file(absl::StrCat(kFile, ".json"));
  const auto golden = nlohmann::json::parse(file)["continued"];
  ServerProcess server(
      {absl::StrCat("--model=", kFile, ".gguf"), "--dtype=f32"});
  Client client(server.client_options());
  v1::GenerateRequest request = Greedy({golden["prompt"]});
  request.mutable_params()->set_max_new_tokens(12);
  const auto response = client.Generate(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->model(), "llama-blocks-of-32");
  const auto& choice = response->results(0).choices(0);
  EXPECT_EQ(std::vector<int>(choice.ids().begin(), choice.ids().end()),
            golden["ids"].get<std::vector<int>>());
  EXPECT_EQ(choice.text(), golden["text"].get<std::string>());
  EXPECT_EQ(server.Stop(), 0);
}

}  // namespace
}  // namespace attend
