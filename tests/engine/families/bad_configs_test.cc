// Configurations that no checkpoint of their family can have: the error names
// the field and its value, and says what is supported.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/engine/families/stored_checkpoint.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;
using Keys = std::vector<std::string>;

struct Golden {
  const char* directory;
  Keys sizes;                // must be there, and above 0
  Keys numbers;              // have a default
  const char* activation;    // null: the file does not say
  const char* architecture;  // one that is supported
};

void PrintTo(const Golden& golden, std::ostream* out) {
  *out << golden.directory;
}

Keys Join(Keys keys, const Keys& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

std::vector<Golden> Goldens() {
  const Keys fairseq = {"d_model",
                        "vocab_size",
                        "max_position_embeddings",
                        "encoder_layers",
                        "decoder_layers",
                        "encoder_attention_heads",
                        "decoder_attention_heads",
                        "encoder_ffn_dim",
                        "decoder_ffn_dim"};
  const Keys t5 = {"d_model",   "vocab_size", "num_layers",
                   "num_heads", "d_kv",       "d_ff"};
  const Keys t5_numbers = {"num_decoder_layers", "layer_norm_epsilon",
                           "relative_attention_num_buckets",
                           "relative_attention_max_distance"};
  const Keys bert = {"hidden_size",       "vocab_size",
                     "num_hidden_layers", "max_position_embeddings",
                     "intermediate_size", "num_attention_heads"};
  const Keys distilbert = {"dim",      "vocab_size", "max_position_embeddings",
                           "n_layers", "n_heads",    "hidden_dim"};
  const Keys norm = {"layer_norm_eps"};
  const Keys rope = {"rms_norm_eps", "rope_theta", "num_key_value_heads"};
  const Keys gemma = {"head_dim", "sliding_window", "query_pre_attn_scalar"};
  const Keys types = {"layer_norm_eps", "type_vocab_size"};
  const Keys roberta = Join(types, {"pad_token_id"});
  static constexpr char kFairseqAct[] = "activation_function";
  static constexpr char kT5Act[] = "feed_forward_proj";
  static constexpr char kBertAct[] = "hidden_act";
  const Keys gpt2 = {"n_embd", "vocab_size", "n_layer", "n_head",
                     "n_positions"};
  return {
      {"marian/plain", fairseq, {}, kFairseqAct, "MarianMTModel"},
      {"marian/separate-vocabularies",
       fairseq,
       {"decoder_vocab_size"},
       kFairseqAct,
       "MarianMTModel"},
      {"families/bart-gelu", fairseq, {}, kFairseqAct, "BartModel"},
      {"families/mbart-4x-scaled", fairseq, {}, kFairseqAct, "MBartModel"},
      {"families/m2m_100-gelu",
       fairseq,
       {"pad_token_id"},
       kFairseqAct,
       "M2M100Model"},
      {"families/pegasus-gelu", fairseq, {}, kFairseqAct, "PegasusModel"},
      {"families/blenderbot-scaled",
       fairseq,
       {},
       kFairseqAct,
       "BlenderbotModel"},
      {"families/blenderbot-small-scaled",
       fairseq,
       {},
       kFairseqAct,
       "BlenderbotSmallModel"},
      {"families/plbart-4x", fairseq, {}, kFairseqAct, "PLBartModel"},
      {"families/fsmt-two-vocabularies",
       {"d_model", "src_vocab_size", "tgt_vocab_size",
        "max_position_embeddings", "encoder_layers", "decoder_layers",
        "encoder_attention_heads", "decoder_attention_heads", "encoder_ffn_dim",
        "decoder_ffn_dim"},
       {"pad_token_id"},
       kFairseqAct,
       "FSMTModel"},
      {"families/t5-4x-long", t5, t5_numbers, kT5Act, "T5Model"},
      {"families/mt5-4x", t5, t5_numbers, kT5Act, "MT5Model"},
      {"families/umt5-4x-long", t5, t5_numbers, kT5Act, "UMT5EncoderModel"},
      // The sizes are those of sections: seq2seq_test.cc.
      {"families/t5gemma-windows-long", {}, {}, nullptr, "T5GemmaModel"},
      {"families/bert2bert", {}, {}, nullptr, "EncoderDecoderModel"},
      {"families/bert-generation-mean", bert, norm, kBertAct,
       "BertGenerationEncoder"},
      {"families/bert-4x-labels", bert, types, kBertAct, "BertModel"},
      {"families/roberta-4x-multi-label", bert, roberta, kBertAct,
       "RobertaModel"},
      {"families/xlm-roberta-4x-reranker", bert, roberta, kBertAct,
       "XLMRobertaModel"},
      {"families/distilbert-4x-labels",
       distilbert,
       {},
       "activation",
       "DistilBertModel"},
      {"families/mpnet-4x-labels", bert,
       Join(norm, {"relative_attention_num_buckets"}), kBertAct, "MPNetModel"},
      {"families/electra-4x-regression", bert, Join(types, {"embedding_size"}),
       kBertAct, "ElectraModel"},
      {"families/modernbert-4x-labels",
       bert,
       {"norm_eps", "local_attention", "global_attn_every_n_layers",
        "global_rope_theta", "local_rope_theta"},
       "hidden_activation",
       "ModernBertModel"},
      {"families/modernbert-decoder-4x-biases",
       bert,
       {"norm_eps", "local_attention", "global_attn_every_n_layers",
        "global_rope_theta", "local_rope_theta"},
       "hidden_activation",
       "ModernBertDecoderForCausalLM"},
      {"families/nomic_bert-mean-pooling", bert, Join(types, {"head_dim"}),
       kBertAct, "NomicBertModel"},
      {"families/nomic_bert-experts",
       {"vocab_size", "n_layer", "n_head", "n_positions", "n_inner"},
       {"n_embd", "layer_norm_epsilon", "rotary_emb_base", "type_vocab_size",
        "num_experts", "moe_top_k", "moe_every_n_layers"},
       nullptr,
       "NomicBertModel"},
      {"families/deberta-v2-mean-pooling", bert,
       Join(types, {"embedding_size", "attention_head_size"}), kBertAct,
       "DebertaV2Model"},
      {"families/albert-mean-pooling", bert,
       Join(types, {"embedding_size", "num_hidden_groups", "inner_group_num"}),
       kBertAct, "AlbertModel"},
      {"families/rembert-mask", bert,
       Join(types, {"input_embedding_size", "output_embedding_size"}), kBertAct,
       "RemBertForMaskedLM"},
      {"families/xlm-roberta-xl-mask", bert, roberta, kBertAct,
       "XLMRobertaXLModel"},
      {"families/ernie-tasks-mean-pooling", bert,
       Join(types, {"task_type_vocab_size"}), kBertAct, "ErnieModel"},
      {"families/roformer-mean-pooling", bert, Join(types, {"embedding_size"}),
       kBertAct, "RoFormerModel"},
      {"families/new-ntk-mean-pooling", bert, Join(types, {"rope_theta"}),
       kBertAct, "NewModel"},
      {"families/gte-labels", bert, Join(types, {"rope_theta"}), kBertAct,
       "GteModel"},
      {"families/jina-bert-mean-pooling", bert, types, nullptr,
       "JinaBertModel"},
      {"families/jina-bert-code", bert, types, nullptr, "JinaBertModel"},
      {"families/jina-v3-labels", bert, types, kBertAct,
       "JinaEmbeddingsV3Model"},
      {"families/jina-v3-adapters", bert,
       Join(types, {"rotary_emb_base", "lora_rank", "lora_alpha"}), kBertAct,
       "XLMRobertaModel"},
      {"families/esm-absolute-labels", bert, norm, kBertAct, "EsmModel"},
      {"families/eurobert-tokens", bert, rope, kBertAct, "EuroBertModel"},
      {"families/neobert-mask",
       {"hidden_size", "vocab_size", "num_hidden_layers", "max_length",
        "intermediate_size", "num_attention_heads"},
       {"norm_eps"},
       nullptr,
       "NeoBERT"},
      {"families/deberta-4x-labels", bert, Join(types, {"embedding_size"}),
       kBertAct, "DebertaModel"},
      {"families/camembert-4x-labels", bert, roberta, kBertAct,
       "CamembertModel"},
      {"families/data2vec-text-mask", bert, roberta, kBertAct,
       "Data2VecTextModel"},
      {"families/roberta-prelayernorm-multi-label", bert, roberta, kBertAct,
       "RobertaPreLayerNormModel"},
      {"families/megatron-bert-labels", bert, types, kBertAct,
       "MegatronBertModel"},
      {"families/gpt2-4x-relu-long",
       gpt2,
       {"layer_norm_epsilon", "n_inner"},
       "activation_function",
       "GPT2LMHeadModel"},
      {"families/llama-4x-linear-rope", bert, rope, kBertAct,
       "LlamaForCausalLM"},
      {"families/mistral-4x-window", bert, Join(rope, {"sliding_window"}),
       kBertAct, "MistralForCausalLM"},
      {"families/qwen2-4x-yarn-rope", bert, rope, kBertAct, "Qwen2ForCausalLM"},
      {"families/qwen3-4x-window", bert,
       Join(rope, {"head_dim", "sliding_window", "max_window_layers"}),
       kBertAct, "Qwen3ForCausalLM"},
      {"families/smollm3-4x-windows", bert,
       Join(rope, {"head_dim", "sliding_window", "no_rope_layer_interval"}),
       kBertAct, "SmolLM3ForCausalLM"},
      {"families/phi3-4x-longrope", bert,
       Join(rope, {"partial_rotary_factor", "sliding_window",
                   "original_max_position_embeddings"}),
       kBertAct, "Phi3ForCausalLM"},
      {"families/gemma-wide-heads", bert, Join(rope, {"head_dim"}), kBertAct,
       "GemmaForCausalLM"},
      {"families/gemma2-4x-uncapped-logits", bert, Join(rope, gemma),
       "hidden_activation", "Gemma2ForCausalLM"},
      {"families/gemma3-4x-window-pattern", bert,
       Join(Join(rope, gemma),
            {"rope_local_base_freq", "sliding_window_pattern"}),
       "hidden_activation", "Gemma3ForCausalLM"},
      {"families/gpt_neox-4x-sequential",
       bert,
       {"layer_norm_eps", "rotary_emb_base", "rotary_pct"},
       kBertAct,
       "GPTNeoXForCausalLM"},
      {"families/opt-4x-post-norm-projected",
       {"hidden_size", "vocab_size", "num_hidden_layers", "ffn_dim",
        "max_position_embeddings", "num_attention_heads"},
       {"word_embed_proj_dim"},
       kFairseqAct,
       "OPTForCausalLM"},
      {"families/xglm-scaled",
       {"d_model", "vocab_size", "num_layers", "ffn_dim",
        "max_position_embeddings", "attention_heads"},
       {"pad_token_id"},
       kFairseqAct,
       "XGLMForCausalLM"},
      {"families/biogpt-4x-unscaled", bert, {}, kBertAct, "BioGptForCausalLM"},
      {"families/bloom-3-heads",
       {"hidden_size", "vocab_size", "n_layer", "n_head"},
       {"layer_norm_epsilon", "seq_length"},
       nullptr,
       "BloomForCausalLM"},
      {"families/mpt-4x-clip",
       {"d_model", "vocab_size", "n_layers", "n_heads", "max_seq_len"},
       {"layer_norm_epsilon"},
       nullptr,
       "MptForCausalLM"},
      {"families/starcoder2-4x-window-no-biases",
       bert,
       {"norm_epsilon", "rope_theta", "num_key_value_heads", "sliding_window"},
       kBertAct,
       "Starcoder2ForCausalLM"},
  };
}

// What none of these fields can be.
const Json kAbsurd = {
    -1, 1e30, -1e30, "12", "", true, Json::array({1}), Json::object()};

class BadConfigsTest : public testing::TestWithParam<Golden> {
 protected:
  // Of loading with these fields changed (null: removed); "": it loads.
  std::string Error(const Json& changes) {
    const Json before = stored_.config;
    stored_.config.update(changes);
    const absl::Status status = stored_.Load(compute_);
    stored_.config = before;
    return std::string(status.message());
  }
  // Alone: it continues its source.
  static bool IsDecoder() {
    return absl::StrContains(GetParam().architecture, "CausalLM") ||
           absl::StrContains(GetParam().architecture, "LMHead");
  }

  StoredCheckpoint stored_{GetParam().directory};
  Compute compute_{{.threads = 1}};
};

TEST_P(BadConfigsTest, AMissingSizeIsNamed) {
  for (const std::string& key : GetParam().sizes) {
    EXPECT_THAT(Error({{key, nullptr}}), AllOf(HasSubstr("config.json"),
                                               HasSubstr(key + " is missing")));
  }
}

TEST_P(BadConfigsTest, AnAbsurdNumberIsNamedWithItsValue) {
  const auto expect = [&](const std::string& key, const Json& value) {
    EXPECT_THAT(Error({{key, value}}),
                AllOf(HasSubstr("config.json"), HasSubstr(key + " is "),
                      HasSubstr("expected ")))
        << key << ": " << value;
  };
  for (const std::string& key : Join(GetParam().sizes, GetParam().numbers)) {
    for (const Json& value : kAbsurd) expect(key, value);
  }
  for (const std::string& key : GetParam().sizes) {
    for (const Json& value : {Json(0), Json(2.5)}) expect(key, value);
  }
}

// Whatever stands in whatever field: it loads, or the error says where.
TEST_P(BadConfigsTest, NothingInAnyFieldIsTheEndOfTheProcess) {
  const Json all = stored_.config;
  for (const auto& [key, before] : all.items()) {
    for (const Json& value : {Json(-1), Json(1e30), Json(""), Json::object()}) {
      const std::string error = Error({{key, value}});
      if (error.empty()) continue;
      EXPECT_THAT(error, AnyOf(HasSubstr("config.json"), HasSubstr("tensor ")))
          << key << ": " << value;
    }
  }
}

// What a larger model may have makes no room for it before a tensor is seen.
TEST_P(BadConfigsTest, SizesThatTheTensorsDoNotHaveNameATensor) {
  for (const std::string& key : GetParam().sizes) {
    // Any number of heads shares a matrix, and positions may be computed.
    if (absl::StrContains(key, "head") || absl::StrContains(key, "position") ||
        key == "max_seq_len" || key == "max_length") {
      continue;
    }
    // Any number of layers shares the weights of a group.
    if (key == "num_hidden_layers" && stored_.config["model_type"] == "albert")
      continue;
    const int large = absl::StrContains(key, "layer") ? 128 : 4096;
    EXPECT_THAT(Error({{key, large}}),
                AnyOf(HasSubstr("tensor "), HasSubstr("a divisor of"),
                      HasSubstr("an even number"), HasSubstr("rotary.dims()")))
        << key;
  }
}

TEST_P(BadConfigsTest, WhatIsNotKnownIsNamedBesideWhatIs) {
  EXPECT_THAT(
      Error({{"model_type", "rwkv"}}),
      AllOf(HasSubstr("model_type is \"rwkv\", expected one of albert, "),
            HasSubstr(stored_.config["model_type"])));
  EXPECT_THAT(Error({{"model_type", nullptr}}),
              HasSubstr("model_type is missing"));
  if (GetParam().activation != nullptr) {
    Json activation = {{"dense_act_fn", nullptr}};
    activation[GetParam().activation] = "mish";
    EXPECT_THAT(Error(activation),
                AllOf(HasSubstr(absl::StrCat(GetParam().activation,
                                             " is \"mish\", expected one of ")),
                      HasSubstr("gelu_new, "), HasSubstr("relu, ")));
  }
  const Json audio = Json::array({"RwkvForAudioClassification"});
  EXPECT_THAT(Error({{"architectures", audio}}),
              AllOf(HasSubstr("architectures is "), HasSubstr(audio[0]),
                    HasSubstr(GetParam().architecture)));
  EXPECT_THAT(Error({{"quantization_config", {{"bits", 4}}}}),
              HasSubstr("quantization_config: quant_method is missing"));
  const char* const other = IsDecoder() ? "add_cross_attention" : "is_decoder";
  EXPECT_THAT(Error({{other, true}}),
              HasSubstr(absl::StrCat(other, " is true")));
}

TEST_P(BadConfigsTest, AnUnknownPoolingIsNamedBesideTheKnown) {
  if (stored_.config.value("is_encoder_decoder", false) || IsDecoder()) {
    return;
  }
  const auto module = [](const char* path, const char* type) {
    return Json{{"path", path},
                {"type", absl::StrCat("sentence_transformers.models.", type)}};
  };
  stored_.Write(
      "modules.json",
      Json{module("", "Transformer"), module("1_Pooling", "Pooling")}.dump());
  for (const char* pooling : {"weighted", "median", ""}) {
    stored_.Write("1_Pooling/config.json",
                  Json{{"pooling_mode", pooling}}.dump());
    EXPECT_THAT(Error(Json::object()),
                AllOf(HasSubstr("1_Pooling/config.json"),
                      HasSubstr(absl::StrCat("pooling_mode is \"", pooling,
                                             "\", expected some of cls, max, "
                                             "mean, "))));
  }
  stored_.Write(
      "modules.json",
      Json{module("", "Transformer"), module("1_Pooling", "LSTM")}.dump());
  EXPECT_THAT(Error(Json::object()),
              AllOf(HasSubstr("LSTM"), HasSubstr("and a Pooling")));
}

std::string NameOf(const testing::TestParamInfo<Golden>& info) {
  std::string name = info.param.directory;
  name.erase(0, name.rfind('/') + 1);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
TEST(BadConfigsTableTest, HasEveryFamily) {
  std::set<std::string> families;
  for (const Golden& golden : Goldens()) {
    families.insert(StoredCheckpoint(golden.directory).config["model_type"]);
  }
  EXPECT_EQ(families, SupportedModelTypes());
}

INSTANTIATE_TEST_SUITE_P(Goldens, BadConfigsTest, testing::ValuesIn(Goldens()),
                         NameOf);

}  // namespace
}  // namespace attend
