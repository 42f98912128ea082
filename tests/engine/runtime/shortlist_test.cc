// A shortlist in steps.

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/api/engine.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/runtime/model_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/checkpoint/files.h"
#include "tests/engine/ops/test_isa.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/random_requests.h"
#include "tests/engine/runtime/same_bits.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

constexpr char kPlain[] = "marian/plain";

class ShortlistStepsTest : public ::testing::Test {
 protected:
  // A file of some targets for every source token.
  std::string WriteShortlist(const Tokenizer& tokenizer) const {
    std::mt19937 random(7);
    const auto piece = [&](int id) {
      return std::string(tokenizer.Piece(id, Side::kTarget));
    };
    std::string lines = absl::StrCat("\t", piece(4), " ", piece(9), "\n");
    const int vocab = tokenizer.vocab_size(Side::kSource);
    for (int id = 0; id < vocab; ++id) {
      absl::StrAppend(&lines, piece(id), "\t", piece(random() % (vocab - 1)),
                      " ", piece(random() % (vocab - 1)), "\n");
    }
    return directory_.Write("vmap.txt", lines);
  }
  // A file of four fifths of the tokens for every source.
  std::string WriteMostTokens(const Tokenizer& tokenizer) const {
    std::string line = "\t";
    for (int id = 0; id < tokenizer.vocab_size(Side::kTarget) - 1; ++id) {
      if (id % 5 == 4) continue;
      absl::StrAppend(&line, id == 0 ? "" : " ",
                      tokenizer.Piece(id, Side::kTarget));
    }
    line += "\n";
    // A file is refused if it has nothing for any source token.
    const std::string one(tokenizer.Piece(3, Side::kSource));
    return directory_.Write("most.txt", one + line + line);
  }
  EngineOptions Small() const {
    return {.max_step_rows = 64,
            .max_source_tokens = 48,
            .kv_cache_bytes = 8 << 20};
  }
  EngineOptions Listed() const {
    EngineOptions options = Small();
    options.shortlist.path = path_;
    return options;
  }
  LoadedModel LoadListed(int threads = 1) const {
    return Load(GoldenDirectory(kPlain), Listed(), threads);
  }

  const TestDirectory directory_;
  const LoadedModel whole_ = Load(GoldenDirectory(kPlain), Small());
  const std::string path_ = WriteShortlist(*whole_.model.tokenizer);
};

TEST_F(ShortlistStepsTest, ARequestHasTheSameBitsAloneAndInAnyCompany) {
  constexpr int kRequests = kSanitized ? 10 : 40;
  for (const ComputeType dtype : kAllComputeTypes) {
    if (!CheckComputeType(dtype, TestIsa()).ok()) continue;
    SCOPED_TRACE(TypeName(dtype));
    EngineOptions options = Listed();
    options.dtype = dtype;
    const LoadedModel model = Load(GoldenDirectory(kPlain), options);
    const auto alone = RunAlone(
        model.engine(), RandomRequests(model.engine(), kRequests, 40, 20, 1));
    for (const int threads : {1, 3}) {
      const LoadedModel other = Load(GoldenDirectory(kPlain), options, threads);
      Driver driver(other.engine(), {.seed = static_cast<uint32_t>(threads),
                                     .preempt_at_random = threads == 3});
      ExpectSameBits(
          driver.Run(RandomRequests(other.engine(), kRequests, 40, 20, 1)),
          alone);
    }
  }
}

// The same without a shortlist: all other tokens are suppressed, and what is
// left is normalised.
TEST_F(ShortlistStepsTest, ResultsAreThoseOfAVocabularyWithoutOtherTokens) {
  const LoadedModel listed = LoadListed();
  const Shortlist shortlist =
      *LoadShortlist({.path = path_}, *whole_.model.tokenizer,
                     whole_.engine().info().target_vocab)
           ->shortlist;
  std::vector<EngineRequest> requests[2];
  for (int i = 0; i < 24; ++i) {
    const SourceTokens source = {.ids = {3 + i, 40 - i, 2 * i + 3, 0}};
    GenerationParams params = whole_.engine().info().generation;
    params.max_new_tokens = 15;
    params.num_beams = 1 + i % 4;
    params.num_return_sequences = params.num_beams;
    // Of beams, what is banned would be normalised away as well.
    if (params.num_beams == 1) params.no_repeat_ngram_size = 2;
    requests[0].push_back({source, GenerateTask{params}});
    const std::vector<int> ids = shortlist.Find(source.ids, params);
    ASSERT_LT(ids.size(), 20u);
    params.renormalize_logits = true;
    for (int id = 0; id < whole_.engine().info().target_vocab; ++id) {
      if (!std::binary_search(ids.begin(), ids.end(), id)) {
        params.suppress_tokens.push_back(id);
      }
    }
    requests[1].push_back({source, GenerateTask{params}});
  }
  const auto found = Driver(listed.engine()).Run(std::move(requests[0]));
  const auto naive = Driver(whole_.engine()).Run(std::move(requests[1]));
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].choices.size(), naive[i].choices.size());
    for (size_t c = 0; c < found[i].choices.size(); ++c) {
      EXPECT_EQ(found[i].choices[c].tokens, naive[i].choices[c].tokens)
          << i << " " << c;
      // Of a greedy search, scores are the log-probabilities if asked for.
      EXPECT_NEAR(found[i].choices[c].score, naive[i].choices[c].score, 1e-3);
    }
  }
}

// A draft model chooses from all tokens, and so does prompt lookup.
TEST_F(ShortlistStepsTest, DraftsShowInNothingButTheNumberOfSteps) {
  EngineOptions options = Listed();
  options.shortlist.path = WriteMostTokens(*whole_.model.tokenizer);
  options.prompt_lookup = false;
  const LoadedModel off = Load(GoldenDirectory(kPlain), options);
  const auto expected =
      RunAlone(off.engine(), OneChoiceRequests(off.engine(), 30));
  options.draft_cost = 0;
  for (const bool lookup : {false, true}) {
    options.prompt_lookup = lookup;
    const LoadedModel on =
        Load(GoldenDirectory(kPlain), options, 1, GoldenDirectory(kPlain));
    Driver driver(on.engine(), {.seed = 1});
    ExpectSameBits(driver.Run(OneChoiceRequests(on.engine(), 30)), expected);
    const StepCounts counts = driver.context().counts();
    const bool drafts = on.compute->isa() >= Isa::kAvx2;
    EXPECT_EQ(counts.accepted_model_draft_tokens > 0, drafts);
    EXPECT_EQ(counts.accepted_model_draft_tokens < counts.model_draft_tokens,
              drafts);
  }
}

TEST_F(ShortlistStepsTest, LogProbabilitiesAreThoseOfTheListAlone) {
  const LoadedModel listed = LoadListed();
  GenerationParams params = whole_.engine().info().generation;
  params.num_beams = 1;
  params.max_new_tokens = 8;
  params.log_probs = true;
  const SourceTokens source = {.ids = {11, 12, 0}};
  const Shortlist shortlist =
      *LoadShortlist({.path = path_}, *whole_.model.tokenizer,
                     whole_.engine().info().target_vocab)
           ->shortlist;
  const size_t tokens = shortlist.Find(source.ids, params).size();
  params.top_log_probs = static_cast<int>(tokens) + 2;
  const auto found =
      Driver(listed.engine()).Run({{source, GenerateTask{params}}});
  const ChoiceOutput& choice = found[0].choices[0];
  ASSERT_FALSE(choice.tokens.empty());
  for (size_t step = 0; step < choice.tokens.size(); ++step) {
    double sum = 0;
    for (size_t i = 0; i < tokens + 2; ++i) {
      const float log_prob = choice.top[step * (tokens + 2) + i].log_prob;
      EXPECT_EQ(std::isinf(log_prob), i >= tokens);
      sum += std::exp(log_prob);
    }
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

// Scores, and what follows a constraint.
TEST_F(ShortlistStepsTest, OtherRequestsUseAllTokens) {
  const LoadedModel listed = LoadListed();
  const auto requests = [&] {
    std::vector<EngineRequest> all =
        RandomRequests(whole_.engine(), 60, 40, 20, 3);
    std::erase_if(all, [](const EngineRequest& request) {
      const auto* task = std::get_if<GenerateTask>(&request.task);
      return task != nullptr && task->params.constraint == nullptr;
    });
    return all;
  };
  ASSERT_GT(requests().size(), 10u);
  ExpectSameBits(Driver(listed.engine()).Run(requests()),
                 Driver(whole_.engine()).Run(requests()));
}

TEST_F(ShortlistStepsTest, TakesTheMemoryThatIsCounted) {
  TransformerSpec spec;
  spec.hidden = 512;
  spec.encoder.emplace();
  spec.encoder->layers.emplace_back();
  spec.decoder = spec.encoder;
  spec.decoder->embedding.vocab = 58101;
  const auto total = [&](const EngineOptions& options, ComputeType dtype) {
    uint64_t bytes = 0;
    for (const MemoryNeed& need : ServingNeeds(spec, dtype, options)) {
      bytes += need.bytes;
    }
    return bytes;
  };
  // Of int8 four groups of 136 bytes, up to a cache line.
  for (const auto& [dtype, bytes] :
       {std::pair(ComputeType::kF32, 4 * 512), {ComputeType::kInt8, 576}}) {
    EXPECT_EQ(total(Listed(), dtype) - total(Small(), dtype),
              uint64_t{58101} * bytes);
  }
}

TEST_F(ShortlistStepsTest, OnlyAModelWithEncoderAndDecoderHasOne) {
  Compute compute({.threads = 1});
  EXPECT_THAT(
      LoadModel(compute, GoldenDirectory("families/llama-4x-linear-rope"), "x",
                Listed())
          .status()
          .message(),
      ::testing::HasSubstr("but the model has not both encoder and decoder"));
}

}  // namespace
}  // namespace attend
