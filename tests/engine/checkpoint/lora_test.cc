// What is refused of LoRA adapters. What they compute is compared with peft by
// tests/engine/runtime/hub_shapes_test.cc.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/lora/lora_source.h"
#include "tests/engine/checkpoint/files.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Tensor {
  std::string name;
  std::vector<int> shape;
};

// A file of zeros.
std::string FileOf(const std::vector<Tensor>& tensors) {
  size_t end = 0;
  std::vector<std::string> entries;
  for (const auto& [name, shape] : tensors) {
    size_t bytes = 4;
    for (const int dim : shape) bytes *= dim;
    entries.push_back(absl::StrCat(
        "\"", name, R"(":{"dtype":"F32","shape":[)", absl::StrJoin(shape, ","),
        R"(],"data_offsets":[)", end, ",", end + bytes, "]}"));
    end += bytes;
  }
  return Safetensors(absl::StrCat("{", absl::StrJoin(entries, ","), "}"),
                     std::string(end, '\0'));
}

class LoraTest : public ::testing::Test {
 protected:
  LoraTest() {
    directory_.Write("model.safetensors", FileOf({{"m.embed.weight", {4, 3}},
                                                  {"m.q.weight", {3, 3}},
                                                  {"m.other.weight", {3, 3}}}));
    names_.rows = {{"tokens.weight", {"m.embed.weight"}},
                   {"logits.weight", {"head.weight", "m.embed.weight"}},
                   {"q.weight", {"m.q.weight"}}};
  }

  std::string Error(const std::string& config,
                    const std::vector<Tensor>& tensors) const {
    directory_.Write("adapter_config.json",
                     absl::StrCat(R"({"peft_type": "LORA")", config, "}"));
    directory_.Write("adapter_model.safetensors", FileOf(tensors));
    auto base = Checkpoint::Open(directory_.path());
    EXPECT_TRUE(base.ok()) << base.status();
    const auto opened =
        LoraSource::Open(directory_.path(), names_,
                         std::make_unique<const Checkpoint>(*std::move(base)));
    EXPECT_TRUE(opened.ok() || absl::IsInvalidArgument(opened.status()));
    return std::string(opened.status().message());
  }
  static std::vector<Tensor> Pair(const std::string& module, int in, int out,
                                  int rank = 2) {
    return {{"base_model.model." + module + ".lora_A.weight", {rank, in}},
            {"base_model.model." + module + ".lora_B.weight", {out, rank}}};
  }

  const TestDirectory directory_;
  NameTable names_;
};

TEST_F(LoraTest, OtherKindsOfAdaptersAreNamed) {
  const auto pair = Pair("m.q", 3, 3);
  EXPECT_EQ(Error("", pair), "");
  const struct {
    const char* config;
    const char* error;
  } cases[] = {
      {R"(, "bias": "all")", "bias is \"all\", expected none"},
      {R"(, "use_dora": true)", "use_dora is true"},
      {R"(, "layer_replication": [[0, 1]])", "layer_replication"},
      {R"(, "target_parameters": ["w"])", "target_parameters"},
      {R"(, "trainable_token_indices": [1])", "trainable_token_indices"},
      {R"(, "init_lora_weights": "pissa_niter_4")", "init_lora_weights"},
      {R"(, "alpha_pattern": {"^m\\.q$": 2})", "alpha_pattern"},
      {R"(, "lora_alpha": "2")", "lora_alpha"},
  };
  for (const auto& [config, error] : cases) {
    EXPECT_THAT(Error(config, pair),
                AllOf(HasSubstr("adapter_config.json: "), HasSubstr(error)));
  }
}

TEST_F(LoraTest, TensorsThatDoNotFit) {
  EXPECT_THAT(Error("", Pair("m.k", 3, 3)),
              HasSubstr("changes m.k.weight, which is not part of the model"));
  // In the file, but the model does not read it.
  EXPECT_THAT(Error("", Pair("m.other", 3, 3)), HasSubstr("is not part of"));
  EXPECT_THAT(Error("", Pair("m.q", 4, 3)),
              AllOf(HasSubstr("lora_B.weight has shape [3, 2]"),
                    HasSubstr("fits m.q.weight of shape [3, 3]")));
  auto pair = Pair("m.q", 3, 3);
  pair[1].shape = {3, 5};
  EXPECT_THAT(Error("", pair), HasSubstr("expected matrices whose product"));
  pair.pop_back();
  EXPECT_THAT(Error("", pair), HasSubstr("has only one of lora_A and lora_B"));
  pair = Pair("m.q", 3, 3);
  pair.push_back({"base_model.model.m.q.lora_magnitude_vector", {3}});
  EXPECT_THAT(Error("", pair), HasSubstr("lora_magnitude_vector"));
  pair = Pair("m.q", 3, 3);
  pair.push_back(
      {"base_model.model.m.q.token_adapter.trainable_tokens_delta", {2, 3}});
  EXPECT_THAT(Error("", pair), HasSubstr("no trainable_token_indices"));
  const char* const two = R"(, "trainable_token_indices": [1, 2])";
  EXPECT_THAT(Error(two, pair), HasSubstr("m.q.weight, which is no plain"));
  pair = {{"m.embed.token_adapter.trainable_tokens_delta", {2, 3}}};
  EXPECT_EQ(Error(two, pair), "");
  EXPECT_THAT(Error(R"(, "trainable_token_indices": [0, 9])", pair),
              HasSubstr("is of token 9, the model has 4"));
  EXPECT_THAT(Error(R"(, "trainable_token_indices": {"embed": [0]})", pair),
              HasSubstr("has shape [2, 3], expected a row of 3 for each of 1"));
  EXPECT_THAT(Error(R"(, "trainable_token_indices": {"k": [0, 1]})", pair),
              HasSubstr("no trainable_token_indices"));
  EXPECT_THAT(Error("", Pair("m.embed", 4, 3)),
              AllOf(HasSubstr("logits.weight and tokens.weight, which are "
                              "tied"),
                    HasSubstr("merge_and_unload()")));
}

}  // namespace
}  // namespace attend
