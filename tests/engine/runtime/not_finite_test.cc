// Numbers that are not finite end the request that has them, and no other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/same_bits.h"

namespace attend {
namespace {

// The first position at which the model computes nothing finite.
constexpr int kPosition = 9;

// A copy of a checkpoint with one poisoned row: the largest floats, which are
// finite, and whose sum is not.
class NotFiniteTest : public testing::Test {
 protected:
  LoadedModel LoadPoisoned(const std::string& name, const std::string& tensor) {
    std::filesystem::remove_all(directory_);
    std::string path = testing::TempDir() + "attend_XXXXXX";
    directory_ = mkdtemp(path.data());
    std::filesystem::copy(GoldenDirectory(name), directory_,
                          std::filesystem::copy_options::recursive);
    Poison(directory_ / "model.safetensors", tensor);
    return Load(directory_, {.max_step_rows = 64, .kv_cache_bytes = 1 << 20});
  }
  ~NotFiniteTest() override { std::filesystem::remove_all(directory_); }

  // Runs all of them in the same steps. The status of each; those that are not
  // OK are left out of later steps.
  static std::vector<absl::Status> Run(
      const Engine& engine, std::vector<std::unique_ptr<Sequence>>& sequences) {
    const std::unique_ptr<EngineContext> context = engine.NewContext();
    std::vector<absl::Status> statuses(sequences.size());
    StepPlan plan;
    while (true) {
      plan.pieces.clear();
      for (size_t i = 0; i < sequences.size(); ++i) {
        statuses[i] = sequences[i]->status();
        const bool runs = statuses[i].ok() && !sequences[i]->output().finished;
        if (!runs) continue;
        plan.pieces.push_back({.sequence = sequences[i].get(),
                               .rows = sequences[i]->Next().rows});
      }
      if (plan.pieces.empty()) break;
      EXPECT_EQ(context->Step(plan), absl::OkStatus());
    }
    outputs_.clear();
    for (const auto& sequence : sequences)
      outputs_.push_back(sequence->output());
    sequences.clear();  // before their context
    return statuses;
  }

  static inline std::vector<SequenceOutput> outputs_;

 private:
  static void Poison(const std::filesystem::path& file,
                     const std::string& tensor) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    uint64_t header = 0;
    std::memcpy(&header, bytes.data(), sizeof(header));
    const auto entry = nlohmann::json::parse(bytes.substr(8, header))[tensor];
    ASSERT_EQ(entry["dtype"], "F32") << tensor;
    const int width = entry["shape"][1];
    const size_t begin = entry["data_offsets"][0];
    const std::vector<float> row(width, std::numeric_limits<float>::max());
    const size_t row_bytes = row.size() * sizeof(float);
    std::memcpy(&bytes[8 + header + begin + kPosition * row_bytes], row.data(),
                row_bytes);
    std::ofstream(file, std::ios::binary) << bytes;
  }

  std::filesystem::path directory_;
};

EngineRequest Continue(int prompt, int max_new, bool sample = false) {
  GenerationParams params;
  params.max_new_tokens = max_new;
  params.do_sample = sample;
  params.log_probs = !sample;
  return {.input = Prompt{std::vector<int>(prompt, 5)},
          .task = GenerateTask{params}};
}

TEST_F(NotFiniteTest, AGenerationEndsBeforeItsWrongToken) {
  const LoadedModel model =
      LoadPoisoned("families/gpt2-gelu", "transformer.wpe.weight");
  const Engine& engine = model.engine();
  const auto add = [&](std::vector<std::unique_ptr<Sequence>>& to,
                       EngineRequest request) {
    auto sequence = engine.NewSequence(std::move(request));
    ASSERT_EQ(sequence.status(), absl::OkStatus());
    to.push_back(*std::move(sequence));
  };
  std::vector<std::unique_ptr<Sequence>> sequences;
  add(sequences, Continue(4, 3));
  const std::vector<absl::Status> alone = Run(engine, sequences);
  const std::vector<SequenceOutput> well = outputs_;
  ASSERT_EQ(alone[0], absl::OkStatus());

  add(sequences, Continue(4, 3));
  add(sequences, Continue(4, 20));        // comes there with its decodes
  add(sequences, Continue(20, 2));        // with its prompt
  add(sequences, Continue(4, 20, true));  // whose whole rows are looked at
  add(sequences, {.input = Prompt{{5, 5}},
                  .task = ScoreTask{.target = std::vector<int>(20, 7)}});
  const std::vector<absl::Status> statuses = Run(engine, sequences);
  EXPECT_EQ(statuses[0], absl::OkStatus());
  ExpectSameBits({outputs_[0]}, well);
  for (size_t i = 1; i < statuses.size(); ++i) {
    EXPECT_EQ(statuses[i].code(), absl::StatusCode::kInternal) << i;
    EXPECT_THAT(std::string(statuses[i].message()),
                testing::HasSubstr("not finite"));
    EXPECT_FALSE(outputs_[i].finished) << i;
  }
  // The tokens that were chosen before stay.
  EXPECT_EQ(outputs_[1].choices[0].tokens.size(), size_t{kPosition - 3});
}

TEST_F(NotFiniteTest, AnEncodeEndsAlone) {
  struct Case {
    const char* model;
    const char* tensor;
    decltype(EngineRequest::task) task;
  };
  const Case cases[] = {
      {"families/bert-mean-pooling", "embeddings.position_embeddings.weight",
       EmbedTask{}},
      {"families/bert-4x-labels", "bert.embeddings.position_embeddings.weight",
       ClassifyTask{}},
      {"families/bert-mask", "bert.embeddings.position_embeddings.weight",
       FillMaskTask{.rows = {1}, .top = 2}}};
  for (const auto& [name, tensor, task] : cases) {
    SCOPED_TRACE(name);
    const LoadedModel model = LoadPoisoned(name, tensor);
    std::vector<std::unique_ptr<Sequence>> sequences;
    for (const int tokens : {kPosition, kPosition + 1}) {
      auto sequence = model.engine().NewSequence(
          {.input = SourceTokens{.ids = std::vector<int>(tokens, 5)},
           .task = task});
      ASSERT_EQ(sequence.status(), absl::OkStatus());
      sequences.push_back(*std::move(sequence));
    }
    const std::vector<absl::Status> statuses = Run(model.engine(), sequences);
    EXPECT_EQ(statuses[0], absl::OkStatus());
    EXPECT_TRUE(outputs_[0].finished);
    EXPECT_EQ(statuses[1].code(), absl::StatusCode::kInternal);
  }
}

}  // namespace
}  // namespace attend
