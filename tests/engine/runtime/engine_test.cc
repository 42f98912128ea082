#include "engine/api/engine.h"

#include <algorithm>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/ops/matmul/matmul.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/test_isa.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/random_requests.h"
#include "tests/engine/runtime/same_bits.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr char kPlain[] = "marian/plain";
constexpr char kBundled[] = ATTEND_SOURCE_DIR "/models/en-de";

EngineOptions Small() {
  return {
      .max_step_rows = 64, .max_source_tokens = 48, .kv_cache_bytes = 8 << 20};
}

// Blocks of the KV pool times this many bytes.
size_t BlockBytes(const Engine& engine, size_t kv_cache_bytes) {
  return kv_cache_bytes / engine.NewContext()->total_blocks();
}

TEST(InvarianceTest, ARequestHasTheSameBitsAloneAndInAnyCompany) {
  constexpr int kRequests = kSanitized ? 20 : 100;
  constexpr uint32_t kOrders = kSanitized ? 3 : 10;
  const LoadedModel model = Load(GoldenDirectory(kPlain), Small());
  const auto alone = RunAlone(
      model.engine(), RandomRequests(model.engine(), kRequests, 40, 30, 1));
  for (uint32_t order = 1; order <= kOrders; ++order) {
    // Each order has another team, step budget and pool.
    const int threads = 1 + order % 3;
    const LoadedModel other =
        Load(GoldenDirectory(kPlain),
             {.max_step_rows = 32 << order % 4,
              .max_source_tokens = 48,
              .kv_cache_bytes = size_t{1} << (17 + order % 5)},
             threads);
    SCOPED_TRACE(order);
    Driver driver(other.engine(), {.max_rows = 20 + static_cast<int>(order) * 7,
                                   .seed = order,
                                   .preempt_at_random = order % 2 == 0});
    ExpectSameBits(
        driver.Run(RandomRequests(other.engine(), kRequests, 40, 30, 1)),
        alone);
  }
}

TEST(InvarianceTest, TheBundledModelToo) {
  constexpr int kRequests = kSanitized ? 4 : 16;
  const std::vector<int> teams =
      kSanitized ? std::vector<int>{3} : std::vector<int>{1, 2, 3};
  const EngineOptions options = {.max_step_rows = 256,
                                 .kv_cache_bytes = 64 << 20};
  const LoadedModel model = Load(kBundled, options);
  Driver driver(model.engine(), {.max_rows = 8});
  const auto expected =
      driver.Run(RandomRequests(model.engine(), kRequests, 60, 20, 2));
  for (int threads : teams) {
    SCOPED_TRACE(threads);
    const LoadedModel other = Load(kBundled, options, threads);
    Driver company(other.engine(), {.seed = static_cast<uint32_t>(threads)});
    ExpectSameBits(
        company.Run(RandomRequests(other.engine(), kRequests, 60, 20, 2)),
        expected);
  }
}

// Beams, reorders and replays included.
TEST(InvarianceTest, WithEveryDTypeOfTheKvCacheToo) {
  constexpr int kRequests = kSanitized ? 20 : 60;
  std::vector<size_t> blocks;
  for (const KvType type : {KvType::kF32, KvType::kBf16, KvType::kInt8}) {
    SCOPED_TRACE(TypeName(type));
    EngineOptions options = Small();
    options.kv_cache_dtype = type;
    const LoadedModel model = Load(GoldenDirectory(kPlain), options);
    blocks.push_back(model.engine().NewContext()->total_blocks());
    Driver driver(model.engine(), {.max_rows = 9});
    const auto expected =
        driver.Run(RandomRequests(model.engine(), kRequests, 40, 30, 3));
    options.kv_cache_bytes =
        20 * BlockBytes(model.engine(), options.kv_cache_bytes);
    const LoadedModel tight = Load(GoldenDirectory(kPlain), options, 3);
    Driver company(tight.engine(), {.seed = 5, .preempt_at_random = true});
    ExpectSameBits(
        company.Run(RandomRequests(tight.engine(), kRequests, 40, 30, 3)),
        expected);
    EXPECT_GT(company.preemptions(), 0);
  }
  // Narrower numbers, more blocks.
  EXPECT_LT(blocks[0] * 3 / 2, blocks[1]);
  EXPECT_LT(blocks[1], blocks[2]);
}

// What a matmul makes of a row must not depend on the row's company: rows are
// rounded one by one, bf16 kernels must sum in one order.
TEST(InvarianceTest, WithEveryDTypeOfTheMatmulsToo) {
  constexpr int kRequests = kSanitized ? 6 : 20;
  const std::vector<int> teams =
      kSanitized ? std::vector<int>{2} : std::vector<int>{1, 2, 3};
  std::vector<std::string> directories = {GoldenDirectory(kPlain)};
  if (!kSanitized) directories.push_back(kBundled);
  for (const ComputeType dtype : {ComputeType::kBf16, ComputeType::kInt8,
                                  ComputeType::kW8, ComputeType::kInt4}) {
    if (!CheckComputeType(dtype, TestIsa()).ok()) continue;
    for (const std::string& directory : directories) {
      SCOPED_TRACE(absl::StrCat(TypeName(dtype), " ", directory));
      EngineOptions options = {.max_step_rows = 256,
                               .max_source_tokens = 48,
                               .kv_cache_bytes = 64 << 20};
      options.dtype = dtype;
      const LoadedModel model = Load(directory, options, 1);
      EXPECT_EQ(model.engine().info().dtype, TypeName(dtype));
      const auto alone = RunAlone(
          model.engine(), RandomRequests(model.engine(), kRequests, 40, 20, 4));
      for (const int threads : teams) {
        const LoadedModel other = Load(directory, options, threads);
        Driver driver(other.engine(), {.seed = static_cast<uint32_t>(threads),
                                       .preempt_at_random = threads == 2});
        ExpectSameBits(
            driver.Run(RandomRequests(other.engine(), kRequests, 40, 20, 4)),
            alone);
      }
    }
  }
}

TEST(PagingTest, HoldsMoreThanReservationsOfMaximumLengthCould) {
  EngineOptions options = Small();
  const LoadedModel large = Load(GoldenDirectory(kPlain), options);
  const size_t block = BlockBytes(large.engine(), options.kv_cache_bytes);
  // A source and two target blocks each: 16 sequences take 48 blocks. At the
  // longest result (62 new tokens: 4 blocks) 9 reservations would fit.
  options.kv_cache_bytes = 48 * block;
  const LoadedModel model = Load(GoldenDirectory(kPlain), options);
  std::vector<EngineRequest> requests;
  for (int i = 0; i < 16; ++i) {
    GenerationParams params = model.engine().info().generation;
    params.num_beams = 1;
    params.max_new_tokens = 62;
    params.forced_eos_id = -1;
    // Ends after 20 tokens, which nobody knew at admission.
    params.stop_ids = {};
    params.min_new_tokens = 20;
    for (int id = 2; id < model.engine().info().target_vocab - 1; ++id) {
      params.stop_ids.push_back(id);
    }
    params.stop_ids.resize(std::min<size_t>(params.stop_ids.size(), 64));
    requests.push_back({.input = SourceTokens{.ids = {3 + i, 4, 0}},
                        .task = GenerateTask{params}});
  }
  auto one = model.engine().NewSequence(requests[0]);
  ASSERT_TRUE(one.ok());
  EXPECT_LT(48 / (*one)->max_blocks(), 16);
  Driver driver(model.engine());
  driver.Run(std::move(requests));
  EXPECT_EQ(driver.most_running(), 16);
  EXPECT_EQ(driver.preemptions(), 0);
}

TEST(PreemptionTest, ReplaysToTheSameBits) {
  EngineOptions options = Small();
  const LoadedModel large = Load(GoldenDirectory(kPlain), options);
  Driver roomy(large.engine());
  const auto expected =
      roomy.Run(RandomRequests(large.engine(), 32, 40, 40, 3));
  EXPECT_EQ(roomy.preemptions(), 0);

  int largest = 0;
  for (EngineRequest& request : RandomRequests(large.engine(), 32, 40, 40, 3)) {
    auto sequence = large.engine().NewSequence(std::move(request));
    ASSERT_TRUE(sequence.ok());
    largest = std::max(largest, (*sequence)->max_blocks());
  }
  options.kv_cache_bytes =
      (largest + 1) * BlockBytes(large.engine(), options.kv_cache_bytes);
  const LoadedModel tight = Load(GoldenDirectory(kPlain), options);
  ASSERT_EQ(tight.engine().NewContext()->total_blocks(), largest + 1);
  Driver driver(tight.engine());
  ExpectSameBits(driver.Run(RandomRequests(tight.engine(), 32, 40, 40, 3)),
                 expected);
  EXPECT_GT(driver.preemptions(), 0);
}

SourceTokens& SourceIn(EngineRequest& request) {
  return std::get<SourceTokens>(request.input);
}

struct BadRequest {
  const char* name;
  const char* message;  // part of it
  std::function<void(EngineRequest&, GenerationParams&)> spoil;
};

class RefusalTest : public testing::TestWithParam<BadRequest> {};

TEST_P(RefusalTest, NamesFieldValueAndLimit) {
  const LoadedModel model = Load(GoldenDirectory(kPlain), Small(), 1);
  EngineRequest request;
  request.input = SourceTokens{.ids = {3, 4, 0}};
  GenerationParams params = model.engine().info().generation;
  GetParam().spoil(request, params);
  if (!std::holds_alternative<ScoreTask>(request.task)) {
    request.task = GenerateTask{params};
  }
  const auto sequence = model.engine().NewSequence(std::move(request));
  EXPECT_EQ(sequence.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(sequence.status().message()),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, RefusalTest,
    testing::Values(
        BadRequest{"NoSource", "source has 0 tokens",
                   [](EngineRequest& request, GenerationParams&) {
                     SourceIn(request).ids.clear();
                   }},
        BadRequest{"LongSource", "source has 49 tokens, limits are 1 and 48",
                   [](EngineRequest& request, GenerationParams&) {
                     SourceIn(request).ids.assign(49, 3);
                   }},
        BadRequest{"NegativeId", "source token id is -1",
                   [](EngineRequest& request, GenerationParams&) {
                     SourceIn(request).ids[1] = -1;
                   }},
        BadRequest{"HugeId", "source token id is 1000000",
                   [](EngineRequest& request, GenerationParams&) {
                     SourceIn(request).ids[1] = 1000000;
                   }},
        BadRequest{"PositionsOfOtherLength", "3 tokens but 1 positions",
                   [](EngineRequest& request, GenerationParams&) {
                     SourceIn(request).positions = {0};
                   }},
        BadRequest{"HugePosition", "source position is 100000",
                   [](EngineRequest& request, GenerationParams&) {
                     SourceIn(request).positions = {0, 1, 100000};
                   }},
        BadRequest{"Prompt",
                   "the model has an encoder, but the request has a prompt",
                   [](EngineRequest& request, GenerationParams&) {
                     request.input = Prompt{{3, 4}};
                   }},
        BadRequest{"Params", "max_new_tokens",
                   [](EngineRequest&, GenerationParams& params) {
                     params.max_new_tokens = 0;
                   }},
        BadRequest{"Target", "target",
                   [](EngineRequest& request, GenerationParams&) {
                     request.task = ScoreTask{.target = {-1}};
                   }},
        BadRequest{"Start", "decoder_start_id is 1000000, must be in [0, ",
                   [](EngineRequest& request, GenerationParams&) {
                     request.task =
                         ScoreTask{.target = {5}, .decoder_start_id = 1000000};
                   }}),
    [](const auto& request) { return request.param.name; });

TEST(PromptRefusalTest, SpeaksOfThePrompt) {
  const LoadedModel model =
      Load(GoldenDirectory("families/llama-4x-linear-rope"), Small(), 1);
  const auto error = [&](EngineInput input, GenerationParams params) {
    const auto sequence = model.engine().NewSequence(
        {.input = std::move(input), .task = GenerateTask{std::move(params)}});
    EXPECT_EQ(sequence.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(sequence.status().message());
  };
  const GenerationParams params = model.engine().info().generation;
  EXPECT_EQ(error(SourceTokens{.ids = {3, 4}}, params),
            "the model has no encoder, but the request has a source");
  EXPECT_EQ(error(Prompt{}, params),
            "prompt has 0 tokens, limits are 1 and 48 (max_source_tokens)");
  EXPECT_THAT(error(Prompt{{3, -1}}, params),
              HasSubstr("prompt token id is -1"));
  GenerationParams prefixed = params;
  const int rows = model.engine().info().max_target_tokens;
  prefixed.forced_prefix.assign(rows - 2, 3);
  EXPECT_THAT(error(Prompt{{3, 4}}, prefixed),
              HasSubstr(absl::StrCat("forced_prefix has ", rows - 2,
                                     " tokens, limit is ", rows - 3,
                                     ": 2 earlier tokens")));
}

TEST(EngineOptionsTest, AreChecked) {
  EXPECT_FALSE((EngineOptions{.max_step_rows = 0}).Validate().ok());
  EXPECT_FALSE((EngineOptions{.max_source_tokens = -1}).Validate().ok());
  EXPECT_FALSE((EngineOptions{.max_beams = 1000}).Validate().ok());
  EXPECT_TRUE(EngineOptions{}.Validate().ok());
}

}  // namespace
}  // namespace attend
