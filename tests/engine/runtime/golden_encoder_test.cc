// What encoders compute: vectors, scores of labels, tokens at masks.

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/test_isa.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::ElementsAreArray;

// A case of expected.json, under the key that says what is asked for.
struct GoldenCase {
  std::string section;
  json expected;
};

EngineRequest RequestOf(const GoldenCase& golden) {
  const SourceTokens source = SourceOf(golden.expected);
  EngineRequest request = {.input = source, .task = ClassifyTask{}};
  if (golden.section == "encoder") request.task = EmbedTask{.per_token = true};
  if (golden.section == "embed") request.task = EmbedTask{};
  if (golden.section == "fill_mask") {
    // Cases count masked tokens, requests do not hold them.
    FillMaskTask task = {.rows = {}, .top = 5};
    for (const int at : golden.expected["at"]) {
      const auto& positions = source.positions;
      task.rows.push_back(
          static_cast<int>(std::find(positions.begin(), positions.end(), at) -
                           positions.begin()));
    }
    request.task = task;
  }
  return request;
}

// The vectors that a case expects: a row, or several.
std::vector<std::vector<double>> VectorsOf(const GoldenCase& golden) {
  const json& expected = golden.expected;
  if (golden.section == "encoder") return expected["hidden"];
  if (golden.section == "embed") return {expected["embedding"]};
  if (golden.section == "classify") return {expected["logits"]};
  return expected["logits"];  // classify_tokens
}

double Length(const std::vector<double>& vector) {
  double squares = 0;
  for (const double x : vector) squares += x * x;
  return std::sqrt(squares);
}

class GoldenEncoderTest
    : public testing::TestWithParam<std::tuple<std::string, ComputeType>> {
 protected:
  void SetUp() override {
    dtype_ = std::get<1>(GetParam());
    if (!CheckComputeType(dtype_, TestIsa()).ok()) {
      GTEST_SKIP() << "no " << TypeName(dtype_) << " on this machine";
    }
    const std::string name = std::get<0>(GetParam());
    const json expected = ReadGolden(name + "/expected.json");
    for (const char* section :
         {"encoder", "embed", "classify", "classify_tokens", "fill_mask"}) {
      for (const json& one : expected.value(section, json::array())) {
        if (section == std::string("embed") && !one.contains("embedding"))
          continue;
        cases_.push_back({section, one});
      }
    }
    ASSERT_FALSE(cases_.empty());
    json config = ReadGolden(name + "/config.json");
    // T5Gemma has a section for each stack.
    if (config.contains("encoder")) config = config["encoder"];
    for (const char* key : {"hidden_size", "dim", "d_model", "n_embd"}) {
      hidden_ = config.value(key, hidden_);
    }
    ASSERT_GT(hidden_, 0);
    const char* layers =
        config.contains("n_layers") ? "n_layers" : "num_hidden_layers";
    // In f32 are the head and what attention does with its operands.
    matmuls_ = 4.0 * config.value(layers, config.value("num_layers", 2)) + 1;
    loaded_ = LoadFor(1);
  }

  LoadedModel LoadFor(int threads) const {
    return Load(GoldenDirectory(std::get<0>(GetParam())),
                {.max_step_rows = 64,
                 .max_source_tokens = 56,
                 .kv_cache_bytes = 8 << 20,
                 .dtype = dtype_},
                threads);
  }

  // Compares f32 to the last digits.
  void Expect(const GoldenCase& golden, const SequenceOutput& output) {
    SCOPED_TRACE(golden.section + " " + golden.expected["source"].dump() +
                 "; regenerate with: python tests/golden/make_golden.py");
    if (golden.section == "fill_mask") return ExpectTokens(golden, output);
    const auto vectors = VectorsOf(golden);
    ASSERT_EQ(output.width, static_cast<int>(vectors[0].size()));
    const int count = static_cast<int>(output.values.size()) / output.width;
    const std::vector<int> rows = RowsOf(golden.expected, count);
    ASSERT_EQ(rows.size(), vectors.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      ExpectVector(golden, vectors[i],
                   output.values.data() + rows[i] * output.width);
    }
  }

  void ExpectVector(const GoldenCase& golden,
                    const std::vector<double>& expected, const float* found) {
    std::vector<double> error;
    for (size_t j = 0; j < expected.size(); ++j) {
      error.push_back(found[j] - expected[j]);
      if (dtype_ != ComputeType::kF32) continue;
      ASSERT_NEAR(found[j], expected[j], Tolerance(expected[j]))
          << "column " << j;
    }
    if (dtype_ == ComputeType::kF32) return;
    EXPECT_LT(Length(error), Bound(golden, expected));
    EXPECT_GT(Length(error), 0) << "computed in f32?";
  }

  // Relative to the vector's length. A few scores may be small only
  // because their terms cancel out: relative to these, and doubled once more
  // for the head's own layers.
  double Bound(const GoldenCase& golden,
               const std::vector<double>& expected) const {
    const double relative = RelativeBound(dtype_, hidden_, matmuls_);
    EXPECT_LT(relative, 0.25);
    if (golden.expected.contains("terms")) {
      return 2 * relative * golden.expected["terms"].get<double>();
    }
    return relative * Length(expected);
  }

  void ExpectTokens(const GoldenCase& golden, const SequenceOutput& output) {
    const std::vector<std::vector<int>> ids = golden.expected["ids"];
    const json& log_probs = golden.expected["log_probs"];
    ASSERT_EQ(output.choices.size(), ids.size());
    // The best log-probability moves by at most twice what a logit does.
    const double bound = 2 * RelativeBound(dtype_, hidden_, matmuls_) *
                         Length(golden.expected["logits"][0]);
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto& top = output.choices[i].top;
      ASSERT_EQ(top.size(), ids[i].size());
      if (dtype_ != ComputeType::kF32) {
        EXPECT_NEAR(top[0].log_prob, log_probs[i][0].get<double>(), bound);
        continue;
      }
      for (size_t j = 0; j < top.size(); ++j) {
        EXPECT_EQ(top[j].id, ids[i][j]) << "place " << j;
        const double expected = log_probs[i][j];
        EXPECT_NEAR(top[j].log_prob, expected, Tolerance(expected));
      }
    }
  }

  ComputeType dtype_ = ComputeType::kF32;
  int hidden_ = 0;
  double matmuls_ = 0;
  std::vector<GoldenCase> cases_;
  LoadedModel loaded_;
};

TEST_P(GoldenEncoderTest, ComputesWhatTransformersComputes) {
  Driver driver(loaded_.engine());
  for (const GoldenCase& golden : cases_) {
    Expect(golden, driver.Run({RequestOf(golden)})[0]);
  }
}

TEST_P(GoldenEncoderTest, ComputesTheSameInCompanyAndInPieces) {
  std::vector<EngineRequest> requests;
  for (const GoldenCase& golden : cases_) {
    requests.push_back(RequestOf(golden));
  }
  const LoadedModel team = LoadFor(2);
  Driver driver(team.engine(), {.max_rows = 24, .seed = 7});
  const auto outputs = driver.Run(std::move(requests));
  for (size_t i = 0; i < cases_.size(); ++i) Expect(cases_[i], outputs[i]);
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenEncoderTest,
                         testing::Combine(testing::ValuesIn(GoldenEncoders()),
                                          testing::Values(ComputeType::kF32,
                                                          ComputeType::kBf16,
                                                          ComputeType::kInt8)),
                         [](const auto& test) {
                           return TestNameOf(std::get<0>(test.param)) + "_" +
                                  std::string(
                                      TypeName(std::get<1>(test.param)));
                         });

class GoldenEncoderInfoTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenEncoderInfoTest, SaysWhatTheModelDoes) {
  const json expected = ReadGolden(GetParam() + "/expected.json");
  const LoadedModel loaded =
      Load(GoldenDirectory(GetParam()), {.max_step_rows = 64,
                                         .max_source_tokens = 56,
                                         .kv_cache_bytes = 8 << 20});
  const ModelInfo& info = loaded.engine().info();
  EXPECT_FALSE(info.generates);
  EXPECT_TRUE(info.embeds);
  EXPECT_EQ(info.classifies, expected.contains("labels"));
  const bool spans = GetParam().ends_with("-spans");
  EXPECT_EQ(info.labels_tokens, expected.contains("classify_tokens") && !spans);
  EXPECT_EQ(info.finds_spans, spans);
  EXPECT_EQ(info.chooses, GetParam().ends_with("-choice"));
  EXPECT_EQ(info.fills_masks, expected.contains("fill_mask"));
  EXPECT_THAT(info.labels, ElementsAreArray(expected.value(
                               "labels", std::vector<std::string>())));
  for (const json& one : expected.value("embed", json::array())) {
    EXPECT_EQ(info.token_width, static_cast<int>(one["mean"].size()));
    if (!one.contains("embedding")) continue;
    EXPECT_EQ(info.embedding_width, static_cast<int>(one["embedding"].size()));
  }
  for (const json& one : expected.value("classify", json::array())) {
    if (!info.classifies) continue;
    const std::string activation = one["activation"];
    EXPECT_EQ(info.label_scores, activation == "none" ? LabelScores::kRaw
                                 : activation == "sigmoid"
                                     ? LabelScores::kSigmoid
                                     : LabelScores::kSoftmax);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenEncoderInfoTest,
                         testing::ValuesIn(GoldenEncoders()),
                         [](const auto& test) {
                           return TestNameOf(test.param);
                         });

}  // namespace
}  // namespace attend
