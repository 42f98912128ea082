#include "server/openai/generation.h"

#include <gmock/gmock.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "server/http_call/http_status.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

ModelInfo Continuing() {
  ModelInfo model;
  model.continues_source = true;
  return model;
}

struct None {};

// What becomes of a request: its parameters as text, or the error. One choice
// is left out.
std::string Read(const std::string& body, const ModelInfo& model,
                 std::optional<int> default_max_tokens = std::nullopt) {
  GenerationRequest generation;
  None none;
  absl::Status status =
      ReadGeneration<None>(Json::parse(body), {}, generation, none);
  if (status.ok()) status = Finish(model, default_max_tokens, generation);
  if (!status.ok()) return std::string(status.message());
  if (generation.params().num_return_sequences() == 1) {
    generation.params().clear_num_return_sequences();
  }
  std::string text;
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  printer.PrintToString(generation.params(), &text);
  return text;
}

TEST(GenerationTest, EachFieldHasItsPlace) {
  const struct {
    const char *body, *params;
  } cases[] = {
      {R"({"temperature": 0.5, "top_p": 0.25})",
       "do_sample: true temperature: 0.5 top_k: 0 top_p: 0.25 "},
      {R"({"temperature": 0.5, "top_k": 7, "min_p": 0.125})",
       "do_sample: true temperature: 0.5 top_k: 7 min_p: 0.125 "},
      {R"({"seed": 18446744073709551615})", "seed: 18446744073709551615 "},
      {R"({"seed": -1})", "seed: 18446744073709551615 "},
      {R"({"max_tokens": 7, "min_tokens": 3})",
       "max_new_tokens: 7 min_new_tokens: 3 "},
      {R"({"max_completion_tokens": 7, "max_tokens": 7})",
       "max_new_tokens: 7 "},
      {R"({"max_tokens": 7, "ignore_eos": true})",
       "max_new_tokens: 7 min_new_tokens: 7 "},
      {R"({"max_tokens": -1})", ""},
      {R"({"max_tokens": -1, "max_completion_tokens": 7})",
       "max_new_tokens: 7 "},
      {R"({"max_completion_tokens": -1})", ""},
      {R"({"top_k": -1, "temperature": 1})",
       "do_sample: true temperature: 1 top_k: 0 "},
      {R"({"stop": "a", "stop_token_ids": [1, 2]})",
       "stop_ids: 1 stop_ids: 2 stop_strings: \"a\" "},
      {R"({"stop": ["a", "b"]})", "stop_strings: \"a\" stop_strings: \"b\" "},
      {R"({"presence_penalty": 0.5, "frequency_penalty": -0.5,)"
       R"( "repetition_penalty": 1.5, "no_repeat_ngram_size": 3})",
       "repetition_penalty: 1.5 presence_penalty: 0.5 frequency_penalty: -0.5 "
       "no_repeat_ngram_size: 3 "},
      {R"({"num_beams": 4, "n": 2, "length_penalty": 0.5})",
       "num_beams: 4 num_return_sequences: 2 length_penalty: 0.5 "
       "do_sample: false "},
      {R"({"use_beam_search": true, "n": 3, "temperature": 0})",
       "num_beams: 3 num_return_sequences: 3 do_sample: false "},
      {R"({"num_beams": 1, "n": 3})", "num_beams: 1 do_sample: false "},
      {R"({"temperature": 1e-60})", "num_beams: 1 do_sample: false "},
      {R"({"num_beams": 1, "n": 3, "temperature": 1})",
       "num_beams: 1 num_return_sequences: 3 do_sample: true temperature: 1 "
       "top_k: 0 "},
      {R"({"n": 1, "best_of": 1, "user": "u", "store": false, "metadata": {},)"
       R"( "service_tier": "auto", "skip_special_tokens": true,)"
       R"( "stream_options": {"include_usage": true}, "stream": true,)"
       R"( "temperature": null})",
       ""},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Read(c.body, ModelInfo()),
              std::string(c.params) + "log_probs: false ")
        << c.body;
  }
  EXPECT_EQ(Read(R"({"cache_salt": "ours"})", ModelInfo()),
            "log_probs: false cache_salt: \"ours\" ");
}

// Of a model that continues text; others have a default of their own.
TEST(GenerationTest, MinusOneMeansAsManyTokensAsFit) {
  for (const char* body :
       {R"({"max_tokens": -1})", R"({"max_completion_tokens": -1})",
        R"({"max_tokens": -1, "max_completion_tokens": -1})"}) {
    EXPECT_THAT(Read(body, Continuing(), 16), HasSubstr("max_new_tokens: 0 "));
  }
  EXPECT_THAT(Read("{}", Continuing(), 16), HasSubstr("max_new_tokens: 16 "));
}

TEST(GenerationTest, BiasesGoByTokenIds) {
  EXPECT_EQ(Read(R"({"logit_bias": {"5": -100}})", ModelInfo()),
            "log_probs: false logit_bias { key: 5 value: -100 } ");
}

TEST(GenerationTest, WhatTheTextHasToBe) {
  const struct {
    const char *body, *constraint;
  } cases[] = {
      {R"({"response_format": {"type": "text"}})", ""},
      {R"({"response_format": {"type": "json_object"}})", "json_object { }"},
      {R"({"response_format": {"type": "json_schema", "json_schema":)"
       R"( {"name": "n", "strict": true, "schema": {"b": 1, "a": 2}}}})",
       R"(json_schema: "{\"b\":1,\"a\":2}")"},
      {R"({"guided_json": {"type": "object"}})",
       R"(json_schema: "{\"type\":\"object\"}")"},
      {R"({"guided_json": "{ }"})", R"(json_schema: "{ }")"},
      {R"({"guided_regex": "a+"})", R"(regex: "a+")"},
      {R"({"guided_choice": ["a", "b"]})",
       R"(choices { texts: "a" texts: "b" })"},
      {R"({"guided_grammar": "start: A"})", R"(lark: "start: A")"},
      {R"({"structured_outputs": {"json": {}}})", R"(json_schema: "{}")"},
      {R"({"structured_outputs": {"regex": "a"}})", R"(regex: "a")"},
      {R"({"structured_outputs": {"choice": ["a"]}})",
       R"(choices { texts: "a" })"},
      {R"({"structured_outputs": {"grammar": "g"}})", R"(lark: "g")"},
      {R"({"structured_outputs": {"json_object": true}})", "json_object { }"},
  };
  for (const auto& c : cases) {
    const std::string wanted =
        *c.constraint == 0 ? ""
                           : absl::StrCat("constraint { ", c.constraint, " } ");
    EXPECT_EQ(Read(c.body, ModelInfo()), "log_probs: false " + wanted);
  }
}

TEST(GenerationTest, OpenAiSamplesUnlessItIsTold) {
  const ModelInfo model = Continuing();
  EXPECT_THAT(Read("{}", model), HasSubstr("do_sample: true top_k: 0 "));
  EXPECT_THAT(Read(R"({"n": 3})", model),
              HasSubstr("num_return_sequences: 3 do_sample: true"));
  // Greedy: the choices are copies.
  EXPECT_EQ(Read(R"({"n": 3, "temperature": 0})", model),
            "num_beams: 1 do_sample: false log_probs: false ");
  EXPECT_EQ(Read(R"({"num_beams": 2})", model),
            "num_beams: 2 do_sample: false log_probs: false ");
  // A model's own beams, and its own top_k.
  ModelInfo beams = model;
  beams.generation.num_beams = 4;
  EXPECT_EQ(Read("{}", beams), "log_probs: false ");
  ModelInfo own = model;
  own.generation.top_k = 20;
  EXPECT_EQ(Read("{}", own), "do_sample: true log_probs: false ");
  // Translators do not sample.
  EXPECT_EQ(Read("{}", ModelInfo(), 5), "max_new_tokens: 5 log_probs: false ");
}

// The model's own default may be another number of choices; those that are
// copies are made of one.
TEST(GenerationTest, TheNumberOfChoicesIsTheRequests) {
  const struct {
    const char* body;
    int computed;
    bool copies;
  } cases[] = {
      {"{}", 1, false},
      {R"({"n": 1})", 1, false},
      {R"({"n": 2})", 2, false},
      {R"({"n": 2, "num_beams": 2})", 2, false},
      {R"({"n": 2, "num_beams": 1, "temperature": 1})", 2, false},
      {R"({"n": 2, "num_beams": 1})", 0, true},
      {R"({"n": 2, "temperature": 0})", 0, true},
  };
  for (const auto& c : cases) {
    GenerationRequest generation;
    None none;
    ASSERT_TRUE(
        ReadGeneration<None>(Json::parse(c.body), {}, generation, none).ok());
    ASSERT_TRUE(Finish(Continuing(), std::nullopt, generation).ok());
    EXPECT_EQ(generation.params().num_return_sequences(), c.computed) << c.body;
    EXPECT_EQ(generation.copies, c.copies) << c.body;
  }
}

// As any other small number does.
TEST(GenerationTest, ATopPOfZeroLeavesTheLikeliestToken) {
  EXPECT_THAT(Read(R"({"top_p": 0})", ModelInfo()), HasSubstr("top_p: 1.17"));
}

TEST(GenerationTest, ErrorsNameTheField) {
  const struct {
    const char *body, *error;
  } cases[] = {
      {R"({"temperature": 3})", "temperature is 3, must be a number in [0, 2]"},
      {R"({"temperature": 1, "num_beams": 2})",
       "temperature is 1, must be 0 or absent with beams"},
      {R"({"temperature": 1, "use_beam_search": true})",
       "temperature is 1, must be 0 or absent with beams"},
      {R"({"top_p": 1.5})", "top_p is 1.5, must be a number in [0, 1]"},
      {R"({"n": 0})", "n is 0, must be an integer in [1, 128]"},
      {R"({"n": 129})", "n is 129, must be an integer in [1, 128]"},
      {R"({"best_of": 2})", "best_of is 2, must be n: 1"},
      {R"({"max_tokens": 1, "max_completion_tokens": 2})",
       "max_tokens is 1, max_completion_tokens is 2: must be the same"},
      {R"({"max_tokens": -2})",
       "max_tokens is -2, must be an integer in [-1, 1073741824]"},
      {R"({"ignore_eos": true})", "ignore_eos is true, needs max_tokens"},
      {R"({"stop": ""})", "stop has an empty string"},
      {R"({"stop": 1})", "stop is 1, must be a string or a list of strings"},
      {R"({"stop": ["a", 1]})", "stop[1] is 1, must be a string"},
      {R"({"logit_bias": {"a": 1}})",
       "logit_bias has a key that is no token id in decimal digits"},
      {R"({"logit_bias": {"1": 101}})",
       "logit_bias.1 is 101, must be a number in [-100, 100]"},
      {R"({"logit_bias": [1]})", "logit_bias is a list, must be an object"},
      {R"({"seed": "1"})",
       "seed is \"1\", must be an integer in "
       "[-9223372036854775808, 9223372036854775807]"},
      {R"({"store": true})", "store is true, must be false"},
      {R"({"service_tier": "flex"})",
       "service_tier is \"flex\", must be auto or default"},
      {R"({"suffix": "a"})",
       "suffix is not a field that this server knows here"},
      {R"({"stream_options": {"include_us": true}})",
       "stream_options.include_us is not a field that this server knows here"},
      {R"({"stream_options": {"include_usage": true}})",
       "stream_options is given, needs stream: true"},
      {R"({"model": 7})", "model is 7, must be a string"},
      {R"({"response_format": {}})",
       "response_format.type is absent, must be there"},
      {R"({"response_format": {"type": "structural_tag"}})",
       "response_format.type is \"structural_tag\", must be text, json_object "
       "or json_schema"},
      {R"({"response_format": {"type": "json_schema"}})",
       "response_format.json_schema is absent, but the type is json_schema"},
      {R"({"response_format": {"type": "text", "json_schema":)"
       R"( {"name": "n", "schema": {}}}})",
       "response_format.json_schema is given, but the type is text"},
      {R"({"response_format": {"type": "json_schema", "json_schema":)"
       R"( {"schema": {}}}})",
       "response_format.json_schema.name is absent, must be there"},
      {R"({"response_format": {"type": "json_schema", "json_schema":)"
       R"( {"name": "n", "schema": true}}})",
       "response_format.json_schema.schema is true, must be an object"},
      {R"({"response_format": {"type": "text", "more": 1}})",
       "response_format.more is not a field that this server knows here"},
      {R"({"guided_json": 1})",
       "guided_json is 1, must be a JSON schema, as an object or a string"},
      {R"({"guided_choice": []})",
       "guided_choice is a list, must be a list that is not empty"},
      {R"({"guided_choice": [1]})", "guided_choice[0] is 1, must be a string"},
      {R"({"guided_regex": "a", "guided_grammar": "b"})",
       "guided_grammar is given, and so is guided_regex: one must be absent"},
      {R"({"structured_outputs": {}})",
       "structured_outputs is an object, must be an object with json, "
       "json_object, regex, choice or grammar"},
      {R"({"structured_outputs": {"json_object": false}})",
       "structured_outputs.json_object is false, must be true"},
      {R"({"structured_outputs": {"structural_tag": "a"}})",
       "structured_outputs.structural_tag is not a field that this server "
       "knows here"},
      {R"({"structured_outputs": {"json": {}, "regex": "a"}})",
       "structured_outputs.regex is given, and so is structured_outputs.json: "
       "one must be absent"},
  };
  for (const auto& c : cases) EXPECT_EQ(Read(c.body, Continuing()), c.error);
}

// Each name that attend.v1 may complain of is one that clients know.
TEST(GenerationTest, NamesOfAttendHaveNamesOfOpenAi) {
  const absl::Status renamed =
      RenameFields(absl::InvalidArgumentError(
                       "params.max_new_tokens is 0, must be in [1, 7]"),
                   GenerationFieldNames());
  EXPECT_EQ(renamed.message(), "max_tokens is 0, must be in [1, 7]");
  EXPECT_EQ(FieldOf(renamed), "max_tokens");
}

}  // namespace
}  // namespace attend
