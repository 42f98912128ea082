// Forced words, against transformers 4.55 (tests/golden/make_force_words.py).

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/api/engine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using Json = nlohmann::json;

TEST(ForceWordsTest, ResultsAreThoseOfTransformers) {
  const LoadedModel model =
      Load(GoldenDirectory("marian/plain"), {.max_step_rows = 64,
                                             .max_source_tokens = 48,
                                             .kv_cache_bytes = 8 << 20});
  std::ifstream file(ATTEND_SOURCE_DIR "/tests/golden/force_words.json");
  const Json golden = Json::parse(file);
  Driver driver(model.engine());
  for (const Json& one : golden["cases"]) {
    GenerationParams params =
        ParamsOf(one["params"], model.engine().info().generation);
    params.force_words = one["force_words"];
    std::vector<EngineRequest> requests;
    requests.push_back(
        {SourceTokens{.ids = one["source"]}, GenerateTask{params}});
    const auto outputs = driver.Run(std::move(requests));
    const auto& choices = outputs[0].choices;
    ASSERT_EQ(choices.size(), one["choices"].size()) << one;
    for (size_t i = 0; i < choices.size(); ++i) {
      const Json& expected = one["choices"][i];
      EXPECT_EQ(choices[i].tokens, expected["ids"].get<std::vector<int>>())
          << one << " " << i;
      if (!expected.contains("score")) continue;
      EXPECT_NEAR(choices[i].score, expected["score"].get<float>(), 1e-4)
          << one << " " << i;
    }
  }
}

}  // namespace
}  // namespace attend
