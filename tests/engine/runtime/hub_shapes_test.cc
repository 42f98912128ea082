// Directories as people have them on a hub, against what transformers computes:
// tests/golden/make_hub_shapes.py makes them.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/checkpoint/lora/lora_config.h"
#include "engine/runtime/model_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::ElementsAreArray;

std::vector<std::string> Shapes() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(GoldenDirectory("hub_shapes"))) {
    names.push_back("hub_shapes/" + entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class HubShapesTest : public testing::TestWithParam<std::string> {
 protected:
  HubShapesTest()
      : expected_(ReadGolden(GetParam() + "/expected.json")),
        loaded_(Load(Directory("load"), Options())) {}

  // A directory that expected.json names; without it the shape's own.
  std::string Directory(const char* key) const {
    return GoldenDirectory(GetParam()) + "/" + expected_.value(key, "");
  }
  EngineOptions Options() const {
    return {
        .max_step_rows = 64,
        .max_source_tokens = 56,
        .kv_cache_bytes = 8 << 20,
        .adapter = expected_.contains("adapter") ? Directory("adapter") : ""};
  }

  std::vector<json> Section(const char* name) const {
    return expected_.value(name, std::vector<json>{});
  }
  SequenceOutput Run(const json& golden,
                     decltype(EngineRequest::task) task) const {
    EngineRequest request{
        .input = InputOf(loaded_.engine().info(), SourceOf(golden)),
        .task = std::move(task)};
    std::vector<EngineRequest> requests;
    requests.push_back(std::move(request));
    return std::move(Driver(loaded_.engine()).Run(std::move(requests))[0]);
  }
  static void ExpectValues(const std::vector<double>& expected,
                           absl::Span<const float> values) {
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], expected[i], Tolerance(expected[i])) << i;
    }
  }

  const json expected_;
  const LoadedModel loaded_;
};

TEST_P(HubShapesTest, GivesWhatTransformersGives) {
  int cases = 0;
  for (const json& golden : Section("encoder")) {
    std::vector<double> hidden;
    for (const json& row : golden["hidden"]) {
      hidden.insert(hidden.end(), row.begin(), row.end());
    }
    ExpectValues(hidden, Run(golden, EmbedTask{.per_token = true}).values);
    ++cases;
  }
  for (const json& golden : Section("embed")) {
    ExpectValues(golden["embedding"], Run(golden, EmbedTask{}).values);
    ++cases;
  }
  for (const json& golden : Section("classify")) {
    ExpectValues(golden["logits"], Run(golden, ClassifyTask{}).values);
    ++cases;
  }
  for (const json& golden : Section("generate")) {
    GenerationParams params =
        ParamsOf(golden["params"], loaded_.engine().info().generation);
    params.log_probs = true;
    const SequenceOutput output = Run(golden, GenerateTask{params});
    const json& choice = golden["choices"][0];
    EXPECT_THAT(output.choices[0].tokens,
                ElementsAreArray(choice["ids"].get<std::vector<int>>()));
    ExpectValues(choice["log_probs"], output.choices[0].log_probs);
    ++cases;
  }
  if (expected_.contains("tokens")) {
    const int tokens = expected_["tokens"];
    EXPECT_EQ(loaded_.engine().info().target_vocab, tokens);
    EXPECT_EQ(loaded_.model.tokenizer->vocab_size(Side::kSource), tokens);
  }
  EXPECT_GT(cases, 0);
  EXPECT_THAT(loaded_.model.skipped_tensors,
              testing::IsSupersetOf(
                  expected_.value("skipped", std::vector<std::string>{})));
}

// A directory with an adapter alone stands for the model that it names.
TEST(AdapterTest, NamesItsModel) {
  namespace fs = std::filesystem;
  const fs::path shape = GoldenDirectory("hub_shapes/gpt2-lora");
  std::string name = testing::TempDir() + "adapter-XXXXXX";
  const fs::path copy = mkdtemp(name.data());
  fs::copy(shape / "adapter", copy, fs::copy_options::recursive);
  const auto write_base = [&](const std::string& base) {
    json config =
        json::parse(std::ifstream(shape / "adapter" / kLoraConfigFile));
    config["base_model_name_or_path"] = base;
    std::ofstream(copy / kLoraConfigFile) << config;
  };
  write_base((shape / "model").string());
  const auto files = OpenModelFiles(copy.string());
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->adapter, copy.string());
  EXPECT_NE(files->tensors->Find("transformer.h.0.attn.c_attn.weight")->rows,
            nullptr);
  write_base("owner/name");
  EXPECT_THAT(OpenModelFiles(copy.string()).status().message(),
              testing::HasSubstr("is an adapter of owner/name, which is no "
                                 "directory here"));
  EXPECT_THAT(
      OpenModelFiles((shape / "model").string(), "/none").status().message(),
      testing::HasSubstr("/none/adapter_config.json"));
  fs::remove_all(copy);
}

INSTANTIATE_TEST_SUITE_P(Shapes, HubShapesTest, testing::ValuesIn(Shapes()),
                         [](const auto& test) {
                           return TestNameOf(test.param);
                         });

}  // namespace
}  // namespace attend
