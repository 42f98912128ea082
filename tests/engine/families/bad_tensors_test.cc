// Checkpoints whose tensors are not what config.json says, of every family: the
// error names the tensor.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tests/engine/families/stored_checkpoint.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

struct Golden {
  const char* directory;
  // Suffixes of tensors that may be missing, since another one or zeros stand
  // in for them, and of those that nobody reads.
  std::vector<std::string> spare = {};
  std::vector<std::string> unread = {};
  std::vector<std::string> towers = {};  // prefixes of tensors nobody reads
};

void PrintTo(const Golden& golden, std::ostream* out) {
  *out << golden.directory;
}

std::vector<Golden> Goldens() {
  const std::vector<std::string> pooler = {"pooler.dense.weight",
                                           "pooler.dense.bias"};
  const std::vector<std::string> positions = {"embed_positions.weight"};
  const std::vector<std::string> towers = {
      "vision_tower.", "multi_modal_projector.", "visual.", "model.visual."};
  const std::vector<std::string> ids = {"embeddings.position_ids"};
  const std::vector<std::string> tables = {"embed_tokens.weight",
                                           "lm_head.weight"};
  return {
      {"marian/plain", {"final_logits_bias"}},
      {"marian/separate-vocabularies", {"final_logits_bias", "lm_head.weight"}},
      {"families/bart-gelu", {"final_logits_bias"}},
      {"families/bart-4x-scaled-long",
       {"final_logits_bias", tables[0], tables[1]},
       {"shared.weight"}},
      {"families/bart-base-model"},
      {"families/mbart-4x-scaled", {"final_logits_bias"}},
      {"families/m2m_100-gelu"},
      {"families/pegasus-gelu", {"final_logits_bias"}, positions},
      {"families/t5-few-buckets"},
      {"families/t5-v1_1-4x", {tables[0]}, {"shared.weight"}},
      {"families/umt5-4x-long", {tables[0]}, {"shared.weight"}},
      {"families/blenderbot-scaled", {"final_logits_bias"}},
      {"families/blenderbot-small-scaled", {"final_logits_bias"}},
      {"families/plbart-4x", {"final_logits_bias"}},
      {"families/fsmt-two-vocabularies",
       {"decoder.embed_tokens.weight", "output_projection.weight"},
       positions},
      {"families/t5gemma-windows-long"},
      {"families/mbart-labels"},
      {"families/plbart-labels", {tables[0], "shared.weight"}},
      {"families/t5gemma-labels"},
      {"families/t5gemma-encoder-tokens"},
      {"families/bert2bert", {}, pooler},
      {"families/bert-generation-mean"},
      {"families/xglm-scaled"},
      {"families/biogpt-4x-unscaled", {tables[0], "output_projection.weight"}},
      {"families/mt5-long", {"lm_head.weight", "shared.weight"}},
      {"families/bert-mean-pooling", {}, pooler},
      {"families/bert-4x-labels", {}, ids},
      {"families/bert-tokens"},
      {"families/roberta-4x-multi-label", {}, ids},
      {"families/xlm-roberta-tokens"},
      {"families/distilbert-4x-labels"},
      {"families/distilbert-mask", {"vocab_projector.weight"}},
      {"families/mpnet-4x-labels", {}, ids},
      {"families/mpnet-mask"},
      {"families/electra-4x-regression", {}, ids},
      {"families/electra-mask"},
      {"families/modernbert-4x-labels"},
      {"families/modernbert-mask"},
      {"families/modernbert-decoder-4x-biases"},
      {"families/modernbert-decoder-labels"},
      {"families/nomic_bert-mean-pooling"},
      {"families/nomic_bert-experts"},
      {"families/nomic_bert-labels"},
      {"families/nomic_bert-mask"},
      {"families/deberta-v2-mean-pooling"},
      {"families/deberta-v2-4x-labels", {}, ids},
      {"families/albert-mean-pooling", {}, {"pooler.weight", "pooler.bias"}},
      {"families/rembert-4x-labels", {}, ids},
      {"families/megatron-bert-labels"},
      {"families/ernie-tasks-mean-pooling", {}, pooler},
      {"families/new-ntk-mean-pooling"},
      {"families/gte-labels"},
      {"families/jina-bert-reranker"},
      {"families/jina-bert-code", {}, pooler},
      {"families/jina-v3-labels"},
      {"families/jina-v3-adapters",
       {},
       {"roberta.pooler.dense.bias",
        "roberta.pooler.dense.parametrizations.weight.original",
        "roberta.pooler.dense.parametrizations.weight.0.lora_A",
        "roberta.pooler.dense.parametrizations.weight.0.lora_B"}},
      {"families/esm-absolute-labels",
       {},
       {"regression.weight", "regression.bias"}},
      {"families/deberta-v2-grouped-convolution"},
      {"families/eurobert-tokens", {}, {"lm_head.weight"}},
      {"families/neobert-mask"},
      {"families/roformer-labels", {}, {"embed_positions.weight"}},
      {"families/roformer-mean-choice", {}, {"embed_positions.weight"}},
      {"families/deberta-4x-labels", {}, ids},
      {"families/camembert-4x-labels", {}, ids},
      {"families/data2vec-text-mask"},
      {"families/roberta-prelayernorm-multi-label"},
      {"families/xlm-roberta-xl-tokens"},
      {"families/gpt2-gelu"},
      {"families/gpt2-4x-relu-long", {"wte.weight", tables[1]}},
      {"families/llama-llama3-rope"},
      {"families/llama-4x-linear-rope"},
      {"families/mistral-4x-window"},
      {"families/qwen2-window-in-some-layers"},
      {"families/qwen2-4x-yarn-rope"},
      {"families/qwen3-4x-window"},
      {"families/phi3-plain-rope"},
      {"families/gemma-wide-heads"},
      {"families/gemma2-softcaps"},
      {"families/gemma3-layer-types"},
      {"families/gpt_neox-parallel"},
      {"families/opt-pre-norm"},
      {"families/opt-4x-post-norm-projected", {tables[0], tables[1]}},
      {"families/bloom-3-heads"},
      {"families/mpt-defaults"},
      {"families/smollm3-4x-windows"},
      {"families/starcoder2-layer-norms"},
      {"families/starcoder2-4x-window-no-biases"},
      {"families/olmo-clip"},
      {"families/olmo2-branch-norms"},
      {"families/olmo3-4x-windows-yarn"},
      {"families/exaone4-4x-windows"},
      {"families/granite-factors"},
      {"families/phi-4x-part-of-heads"},
      {"families/phi-head-norms"},
      {"families/stablelm-biases"},
      {"families/stablelm-parallel-head-norms"},
      {"families/gptj-part-of-heads"},
      {"families/codegen-four-machines"},
      {"families/gpt_neo-windows"},
      {"families/gpt_bigcode-shared-key"},
      {"families/falcon-shared-key"},
      {"families/falcon-groups"},
      {"families/falcon-sequential"},
      {"families/cohere-head-norms"},
      {"families/cohere2-4x-windows", {tables[0], tables[1]}},
      {"families/glm-4x-part-of-heads"},
      {"families/glm4-branch-norms"},
      {"families/nemotron-4x-part-of-heads"},
      {"families/arcee-biases"},
      {"families/seed_oss-biases"},
      {"families/ernie4_5-biases"},
      {"families/hunyuan-4x-alpha"},
      {"families/helium-biases"},
      {"families/ministral-layer-types"},
      {"families/ministral3-yarn"},
      {.directory = "families/llava-text", .towers = towers},
      {.directory = "families/gemma3-text", .towers = towers},
      {.directory = "families/mistral3-text", .towers = towers},
      {.directory = "families/qwen2_vl-text", .towers = towers},
      {.directory = "families/qwen2_5_vl-text", .towers = towers},
      {.directory = "families/qwen3_vl-text", .towers = towers},
  };
}

bool Lists(const std::vector<std::string>& suffixes, absl::string_view name) {
  return std::any_of(
      suffixes.begin(), suffixes.end(),
      [&](const std::string& suffix) { return absl::EndsWith(name, suffix); });
}

class BadTensorsTest : public testing::TestWithParam<Golden> {
 protected:
  // Of what is in memory now; "": it loads.
  std::string Error() { return std::string(stored_.Load(compute_).message()); }

  static bool IsOfTower(absl::string_view name) {
    const std::vector<std::string>& towers = GetParam().towers;
    return std::any_of(towers.begin(), towers.end(),
                       [&](const std::string& tower) {
                         return absl::StartsWith(name, tower);
                       });
  }

  // Runs `check` for each tensor that is read, with a copy of it; afterwards it
  // is as it was.
  template <typename Check>
  void ForEachRead(Check check) {
    const StoredTensors all = stored_.tensors;
    for (const auto& [name, tensor] : all) {
      if (Lists(GetParam().unread, name) || IsOfTower(name)) continue;
      SCOPED_TRACE(name);
      check(name, tensor);
      stored_.tensors[name] = tensor;
    }
  }

  StoredCheckpoint stored_{GetParam().directory};
  Compute compute_{{.threads = 1}};
};

TEST_P(BadTensorsTest, LoadsAsItIs) { EXPECT_EQ(Error(), ""); }

TEST_P(BadTensorsTest, AMissingTensorIsNamed) {
  ForEachRead([&](const std::string& name, const StoredTensor&) {
    stored_.tensors.erase(name);
    if (Lists(GetParam().spare, name)) {
      EXPECT_EQ(Error(), "");
    } else {
      EXPECT_THAT(Error(), AllOf(HasSubstr("no tensor "), HasSubstr(name),
                                 HasSubstr("expected one of shape [")));
    }
  });
}

TEST_P(BadTensorsTest, AWrongShapeIsNamed) {
  ForEachRead([&](const std::string& name, const StoredTensor& tensor) {
    StoredTensor& longer = stored_.tensors[name];
    longer.shape.back() += 1;
    longer.bytes.resize(tensor.bytes.size() / tensor.shape.back() *
                        longer.shape.back());
    EXPECT_THAT(Error(),
                AllOf(HasSubstr(absl::StrCat("tensor ", name, " has shape [")),
                      HasSubstr("expected [")));
  });
}

TEST_P(BadTensorsTest, AWrongTypeIsNamed) {
  ForEachRead([&](const std::string& name, const StoredTensor&) {
    stored_.tensors[name].dtype = "I32";
    EXPECT_THAT(Error(),
                HasSubstr(absl::StrCat(
                    "tensor ", name,
                    " has dtype I32, expected F64, F32, F16 or BF16")));
  });
}

TEST_P(BadTensorsTest, ATensorThatNobodyKnowsIsNamed) {
  const std::string first = stored_.tensors.begin()->first;
  for (const std::string& name :
       {std::string("adapter.weight"), first + ".absmax", "old." + first}) {
    stored_.tensors[name] = {"F32", {1}, std::string(4, '\0')};
    EXPECT_THAT(Error(), HasSubstr(absl::StrCat("tensor ", name,
                                                " is not part of the model")));
    stored_.tensors.erase(name);
  }
}

TEST_P(BadTensorsTest, AFileThatIsCutShortIsNamed) {
  const std::string bytes = BytesOf(stored_.tensors);
  const size_t header = static_cast<unsigned char>(bytes[0]) +
                        256 * static_cast<unsigned char>(bytes[1]) + 8;
  for (const size_t length : {size_t{1}, size_t{7}, size_t{8}, header / 2,
                              header, header + 1, bytes.size() - 1}) {
    const absl::Status status =
        stored_.LoadBytes(compute_, bytes.substr(0, length));
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << length << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("model.safetensors"));
  }
}

std::string NameOf(const testing::TestParamInfo<Golden>& info) {
  std::string name = info.param.directory;
  name.erase(0, name.rfind('/') + 1);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

TEST(BadTensorsTableTest, HasEveryFamily) {
  std::set<std::string> families;
  for (const Golden& golden : Goldens()) {
    families.insert(StoredCheckpoint(golden.directory).config["model_type"]);
  }
  EXPECT_EQ(families, SupportedModelTypes());
}

INSTANTIATE_TEST_SUITE_P(Goldens, BadTensorsTest, testing::ValuesIn(Goldens()),
                         NameOf);

// The weights of a layer on top of the pooled vector are in a folder.
class BadDenseTest : public testing::Test {
 protected:
  std::string ErrorWith(const std::string& bytes) {
    stored_.Write(kFile, bytes);
    return std::string(stored_.Load(compute_).message());
  }

  static constexpr char kFile[] = "2_Dense/model.safetensors";
  StoredCheckpoint stored_{"families/xlm-roberta-dense"};
  StoredTensors dense_ = stored_.Read(kFile);
  Compute compute_{{.threads = 1}};
};

TEST_F(BadDenseTest, TensorsOfAFolderAreNamedWithIt) {
  EXPECT_EQ(ErrorWith(BytesOf(dense_)), "");
  StoredTensors more = dense_;
  more["extra"] = {"F32", {1}, std::string(4, '\0')};
  EXPECT_THAT(ErrorWith(BytesOf(more)), HasSubstr("2_Dense/extra is not part"));
  for (const auto& [name, tensor] : dense_) {
    StoredTensors less = dense_;
    less.erase(name);
    EXPECT_THAT(ErrorWith(BytesOf(less)), HasSubstr("2_Dense/" + name));
    StoredTensors wrong = dense_;
    wrong[name].shape.insert(wrong[name].shape.begin(), {1, 1});
    EXPECT_THAT(ErrorWith(BytesOf(wrong)),
                HasSubstr(absl::StrCat("2_Dense/", name, " has shape [1, 1")));
  }
}

TEST_F(BadDenseTest, AFolderWithoutWeightsIsNamed) {
  EXPECT_THAT(ErrorWith(""), HasSubstr("2_Dense: neither model.safetensors"));
  stored_.Write("2_Dense/pytorch_model.bin", "x");
  EXPECT_THAT(ErrorWith(""), HasSubstr("2_Dense/pytorch_model.bin: neither a "
                                       "zip archive nor"));
}

}  // namespace
}  // namespace attend
