#include <fstream>
#include <string>
#include <vector>

#include "engine/decoding/sampler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/engine/decoding/fake_model.h"

namespace attend {
namespace {

constexpr char kRegenerate[] =
    "regenerate: tests/golden/make_golden.py sampling";

TEST(SamplerGoldenTest, EqualsTransformers) {
  std::ifstream file(ATTEND_SOURCE_DIR "/tests/golden/sampling.json");
  ASSERT_TRUE(file) << kRegenerate;
  const nlohmann::json golden = nlohmann::json::parse(file);
  const auto logits = golden["logits"][0].get<std::vector<float>>();
  const int vocab = static_cast<int>(logits.size());
  ASSERT_GT(golden["cases"].size(), 10u);
  for (const nlohmann::json& test : golden["cases"]) {
    SCOPED_TRACE(test["params"].dump());
    GenerationParams params;
    params.temperature = test["params"].value("temperature", 1.0f);
    params.top_k = test["params"].value("top_k", 0);
    params.top_p = test["params"].value("top_p", 1.0f);
    params.min_p = test["params"].value("min_p", 0.0f);
    ProcessedRow row({params, PromptOf(params), vocab},
                     Sampler::BestAsked(params, vocab));
    row.Set(LogitsView(logits), 0, {params.decoder_start_id}, {});
    Sampler sampler(params, vocab);
    sampler.Restrict(row);
    EXPECT_EQ(sampler.probabilities().size(), test["probs"].size())
        << kRegenerate;
    for (const TokenScore& token : sampler.probabilities()) {
      const float expected =
          test["probs"].value(std::to_string(token.id), 0.0f);
      EXPECT_NEAR(token.score, expected, 1e-6) << token.id;
    }
  }
}

}  // namespace
}  // namespace attend
