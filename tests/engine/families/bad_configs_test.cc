// Configurations that no checkpoint of their family can have: the error names
// the field and its value, and says what is supported.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/engine/families/config_goldens.h"
#include "tests/engine/families/stored_checkpoint.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// What none of these fields can be.
const Json kAbsurd = {
    -1, 1e30, -1e30, "12", "", true, Json::array({1}), Json::object()};

class BadConfigsTest : public testing::TestWithParam<ConfigGolden> {
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

std::string NameOf(const testing::TestParamInfo<ConfigGolden>& info) {
  std::string name = info.param.directory;
  name.erase(0, name.rfind('/') + 1);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
TEST(BadConfigsTableTest, HasEveryFamily) {
  std::set<std::string> families;
  for (const ConfigGolden& golden : ConfigGoldens()) {
    families.insert(StoredCheckpoint(golden.directory).config["model_type"]);
  }
  EXPECT_EQ(families, SupportedModelTypes());
}

INSTANTIATE_TEST_SUITE_P(Goldens, BadConfigsTest,
                         testing::ValuesIn(ConfigGoldens()), NameOf);

}  // namespace
}  // namespace attend
