// ModelInfer of models that generate. The answers are those of attend.v1.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/server/inference/inference_fixture.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InferTest : public InferenceFixture {};

// Short results of texts of different lengths.
InferRequest ShortRequest() {
  InferRequest request = OfTexts({"abcdefghij", "abcdefgh"});
  Parameter(request, "max_new_tokens").set_int64_param(3);
  return request;
}

TEST_F(InferTest, TextBecomesText) {
  Build({});
  InferRequest request = ShortRequest();
  request.set_id("7");
  const InferResponse response = Infer(request);
  EXPECT_EQ(response.model_name(), "fake");
  EXPECT_EQ(response.model_version(), "1");
  EXPECT_EQ(response.id(), "7");
  EXPECT_TRUE(response.parameters().empty());
  const Output texts = OutputOf(response, "text_output");
  EXPECT_EQ(texts.datatype, "BYTES");
  EXPECT_THAT(texts.shape, ElementsAre(2, 1));
  EXPECT_THAT(texts.texts(), ElementsAre("w341 w342 w343", "w279 w280 w281"));
  EXPECT_THAT(OutputOf(response, "finish_reason").texts(),
              ElementsAre("max_length", "max_length"));
  const Output ids = OutputOf(response, "output_ids");
  EXPECT_THAT(ids.shape, ElementsAre(2, 1, 3));
  EXPECT_THAT(ids.numbers<int32_t>(),
              ElementsAre(341, 342, 343, 279, 280, 281));
  EXPECT_THAT(OutputOf(response, "output_lengths").numbers<int32_t>(),
              ElementsAre(3, 3));
  EXPECT_THAT(OutputOf(response, "generated_tokens").numbers<int32_t>(),
              ElementsAre(3, 3));
  EXPECT_THAT(OutputOf(response, "source_tokens").numbers<int32_t>(),
              ElementsAre(11, 9));
  EXPECT_THAT(OutputOf(response, "truncated").raw, std::string(2, '\0'));
  ExpectCounted("ModelInfer", "OK");
}

// Everything that Generate tells of results and their tokens.
TEST_F(InferTest, EveryOutputIsAFieldOfGenerate) {
  FixtureOptions options;
  options.engine.info.continues_source = true;
  Build(options);
  v1::GenerateRequest twin = Generate("abc", 2);
  twin.mutable_params()->set_do_sample(true);
  twin.mutable_params()->set_seed(9);
  twin.mutable_params()->set_num_return_sequences(2);
  twin.mutable_params()->set_log_probs(true);
  twin.mutable_params()->set_echo(true);
  twin.mutable_params()->set_prompt_log_probs(true);
  const auto expected = Ask<v1::GenerateResponse>("Generate", twin).results(0);

  InferRequest request = OfTexts({"abc"});
  Parameter(request, "max_new_tokens").set_int64_param(2);
  Parameter(request, "do_sample").set_bool_param(true);
  Parameter(request, "seed").set_uint64_param(9);
  Parameter(request, "num_return_sequences").set_int64_param(2);
  Parameter(request, "log_probs").set_bool_param(true);
  Parameter(request, "echo").set_bool_param(true);
  Parameter(request, "prompt_log_probs").set_bool_param(true);
  const InferResponse response = Infer(request);

  std::vector<float> scores, log_probs, prompt_log_probs;
  for (const v1::Choice& choice : expected.choices()) {
    scores.push_back(choice.score());
    for (const v1::TokenLogProbs& token : choice.log_probs()) {
      log_probs.push_back(token.token().log_prob());
    }
  }
  for (const v1::TokenLogProbs& token : expected.prompt().log_probs()) {
    prompt_log_probs.push_back(token.token().log_prob());
  }
  ASSERT_EQ(expected.choices_size(), 2);
  ASSERT_EQ(log_probs.size(), 4);
  EXPECT_EQ(OutputOf(response, "scores").numbers<float>(), scores);
  const Output output = OutputOf(response, "log_probs");
  EXPECT_THAT(output.shape, ElementsAre(1, 2, 2));
  EXPECT_EQ(output.numbers<float>(), log_probs);
  EXPECT_THAT(OutputOf(response, "prompt_text").texts(),
              ElementsAre(expected.prompt().text()));
  EXPECT_THAT(OutputOf(response, "prompt_ids").numbers<int32_t>(),
              ::testing::ElementsAreArray(expected.prompt().ids()));
  EXPECT_EQ(OutputOf(response, "prompt_log_probs").numbers<float>(),
            prompt_log_probs);
  EXPECT_THAT(OutputOf(response, "seed").numbers<uint64_t>(), ElementsAre(9));
}

TEST_F(InferTest, IdsHaveLengthsAndMasks) {
  Build({});
  const std::vector<int64_t> shape = {2, 3};
  const auto run = [&](auto add) {
    InferRequest request;
    AddRaw(request, "input_ids", "INT64", shape,
           RawNumbers<int64_t>({5, 6, 7, 8, 9, 10}));
    Parameter(request, "max_new_tokens").set_int64_param(1);
    add(request);
    return OutputOf(Infer(request), "source_tokens").numbers<int32_t>();
  };
  EXPECT_THAT(run([](InferRequest&) {}), ElementsAre(3, 3));
  EXPECT_THAT(run([](InferRequest& request) {
                AddRaw(request, "sequence_lengths", "INT32", {2},
                       RawNumbers<int32_t>({3, 1}));
              }),
              ElementsAre(3, 1));
  EXPECT_THAT(run([&](InferRequest& request) {
                AddRaw(request, "attention_mask", "BOOL", shape,
                       RawNumbers<uint8_t>({0, 1, 1, 1, 0, 0}));
              }),
              ElementsAre(2, 1));
  EXPECT_THAT(run([&](InferRequest& request) {
                AddRaw(request, "attention_mask", "INT64", shape,
                       RawNumbers<int64_t>({0, 1, 1, 1, 1, 1}));
                AddRaw(request, "sequence_lengths", "INT64", {2, 1},
                       RawNumbers<int64_t>({3, 2}));
              }),
              ElementsAre(2, 2));
}

// Of a model that continues its source: with padding as without any.
TEST_F(InferTest, MaskedIdsOfAPromptAreLeftOut) {
  FixtureOptions options;
  options.engine.info.continues_source = true;
  Build(options);
  InferRequest padded;
  AddRaw(padded, "input_ids", "INT32", {1, 4},
         RawNumbers<int32_t>({0, 0, 5, 6}));
  AddRaw(padded, "attention_mask", "INT32", {1, 4},
         RawNumbers<int32_t>({0, 0, 1, 1}));
  Parameter(padded, "max_new_tokens").set_int64_param(2);
  Parameter(padded, "echo").set_bool_param(true);
  EXPECT_THAT(OutputOf(Infer(padded), "prompt_ids").numbers<int32_t>(),
              ElementsAre(5, 6));
  padded.mutable_raw_input_contents(1)->assign(
      RawNumbers<int32_t>({0, 2, 1, 1}));
  EXPECT_EQ(ErrorOf(padded),
            "input 'attention_mask': element 1 is 2, must be 0 or 1");
}

// Clients that add a dimension for batches send one row of all inputs.
TEST_F(InferTest, ARowOfInputsIsAColumn) {
  Build({});
  const auto run = [&](const std::vector<int64_t>& shape) {
    InferRequest request = OfTexts({"abc", "de", "f"});
    request.mutable_inputs(0)->mutable_shape()->Assign(shape.begin(),
                                                       shape.end());
    AddRaw(request, "max_new_tokens", "INT32", shape,
           RawNumbers<int32_t>({2, 2, 2}));
    return OutputOf(Infer(request), "output_ids").numbers<int32_t>();
  };
  const std::vector<int32_t> expected = run({3});
  EXPECT_EQ(run({3, 1}), expected);
  EXPECT_EQ(run({1, 3}), expected);
  InferRequest ids;
  AddRaw(ids, "input_ids", "INT32", {2, 2}, RawNumbers<int32_t>({5, 6, 7, 8}));
  AddRaw(ids, "sequence_lengths", "INT32", {1, 2}, RawNumbers<int32_t>({2, 1}));
  EXPECT_THAT(OutputOf(Infer(ids), "source_tokens").numbers<int32_t>(),
              ElementsAre(2, 1));
}

TEST_F(InferTest, ParametersMayBeTensors) {
  Build({});
  InferRequest request = OfTexts({"abc", "de"});
  AddRaw(request, "max_new_tokens", "INT32", {2, 1},
         RawNumbers<int32_t>({2, 2}));
  AddTexts(request, "stop_strings", {"no", "never"});
  AddRaw(request, "stream", "BOOL", {1}, std::string(1, '\0'));
  EXPECT_THAT(OutputOf(Infer(request), "output_lengths").numbers<int32_t>(),
              ElementsAre(2, 2));
  *request.mutable_raw_input_contents(1) = RawNumbers<int32_t>({2, 3});
  EXPECT_EQ(ErrorOf(request),
            "input 'max_new_tokens': its rows differ, but a parameter holds "
            "for all inputs of a request");
}

TEST_F(InferTest, LanguagesAreParameters) {
  Build({});
  InferRequest request = ShortRequest();
  Parameter(request, "source_language").set_string_param("aa");
  Parameter(request, "target_language").set_string_param("bb");
  const InferResponse response = Infer(request);
  EXPECT_THAT(OutputOf(response, "source_tokens").numbers<int32_t>(),
              ElementsAre(12, 10));
  EXPECT_EQ(OutputOf(response, "output_ids").numbers<int32_t>()[0], 301);
  Parameter(request, "target_language").set_string_param("cc");
  EXPECT_THAT(ErrorOf(request),
              HasSubstr("target_language is 'cc', the model has"));
}

// The fake's log-probabilities are -1 less what the decoder starts with.
TEST_F(InferTest, ADecoderThatStartsWithALanguageIsToldOnce) {
  FixtureOptions options;
  options.engine.info.generation.decoder_start_id = 300;  // "aa"
  Build(options);
  InferRequest request = ShortRequest();
  Parameter(request, "log_probs").set_bool_param(true);
  const auto start = [&] {
    const InferResponse response = Infer(request);
    EXPECT_NE(OutputOf(response, "output_ids").numbers<int32_t>()[0], 301);
    return -1 - OutputOf(response, "log_probs").numbers<float>()[0];
  };
  EXPECT_EQ(start(), 300);
  Parameter(request, "target_language").set_string_param("bb");
  EXPECT_EQ(start(), 301);
}

// In any spelling; see FindLanguage().
TEST_F(InferTest, LanguagesMayBeSpelledInAnotherWay) {
  Build({});
  InferRequest request = ShortRequest();
  Parameter(request, "source_language").set_string_param("aar-ET");
  Parameter(request, "target_language").set_string_param("BB");
  const InferResponse response = Infer(request);
  EXPECT_THAT(OutputOf(response, "source_tokens").numbers<int32_t>(),
              ElementsAre(12, 10));
  EXPECT_EQ(OutputOf(response, "output_ids").numbers<int32_t>()[0], 301);
}

TEST_F(InferTest, OutputsAreThoseThatAreNamed) {
  Build({});
  InferRequest request = ShortRequest();
  request.add_outputs()->set_name("output_lengths");
  request.add_outputs()->set_name("text_output");
  EXPECT_THAT(OutputNames(Infer(request)),
              ElementsAre("text_output", "output_lengths"));
  request.add_outputs()->set_name("log_probs");
  EXPECT_EQ(ErrorOf(request),
            "output 'log_probs' is not there without the parameter "
            "'log_probs'");
  request.mutable_outputs(2)->set_name("text_output");
  EXPECT_EQ(ErrorOf(request), "output 'text_output' is there twice");
  request.mutable_outputs(2)->set_name("TEXT");
  EXPECT_THAT(ErrorOf(request), HasSubstr("output 'TEXT' is unknown; the "
                                          "outputs of task generate are: "));
  request.mutable_outputs(2)->set_name("batch_index");
  EXPECT_THAT(ErrorOf(request), HasSubstr("without the parameter 'stream'"));
  request.mutable_outputs(2)->set_name("scores");
  (*request.mutable_outputs(2)->mutable_parameters())["classification"]
      .set_int64_param(3);
  EXPECT_EQ(ErrorOf(request),
            "output 'scores': parameter 'classification' is set, but is not "
            "supported");
  request.mutable_outputs(2)->clear_parameters();
  (*request.mutable_outputs(2)->mutable_parameters())["binary_data"]
      .set_bool_param(true);
  Parameter(request, "binary_data_output").set_bool_param(true);
  EXPECT_EQ(Infer(request).outputs_size(), 3);
  Parameter(request, "binary_data_output").set_bool_param(false);
  EXPECT_EQ(ErrorOf(request),
            "parameter 'binary_data_output' is not true, but outputs are "
            "always raw");
}

// One long text of two.
TEST_F(InferTest, AnInputThatFailsFailsTheRequestOrIsTold) {
  FixtureOptions options;
  options.engine.info.max_source_tokens = 10;
  Build(options);
  InferRequest request = ShortRequest();
  EXPECT_EQ(ErrorOf(request),
            "input[0] has 11 tokens, limit is 10 (max_source_tokens)");
  for (const char* name : {"text_output", "status_code", "status_message"}) {
    request.add_outputs()->set_name(name);
  }
  const InferResponse response = Infer(request);
  EXPECT_THAT(OutputOf(response, "text_output").texts(),
              ElementsAre("", "w279 w280 w281"));
  EXPECT_THAT(OutputOf(response, "status_code").numbers<int32_t>(),
              ElementsAre(3, 0));
  EXPECT_THAT(OutputOf(response, "status_message").texts(),
              ElementsAre("input[0] has 11 tokens, limit is 10 "
                          "(max_source_tokens)",
                          ""));
}

TEST_F(InferTest, WhatIsWrongIsNamed) {
  Build({});
  const auto error = [&](auto change) {
    InferRequest request = ShortRequest();
    change(request);
    return ErrorOf(request);
  };
  EXPECT_EQ(error([](InferRequest& r) { r.clear_inputs(); }),
            "raw_input_contents has 1 entries, must have one for each of 0 "
            "inputs, or none");
  EXPECT_EQ(error([](InferRequest& r) {
              r.clear_inputs();
              r.clear_raw_input_contents();
            }),
            "there is no input 'text_input' and no input 'input_ids'");
  EXPECT_EQ(error([](InferRequest& r) { r.mutable_inputs(0)->set_name("y"); }),
            "there is no input 'text_input' and no input 'input_ids'");
  EXPECT_THAT(
      error([](InferRequest& r) { AddTexts(r, "y", {"a"}); }),
      ::testing::AllOf(HasSubstr("input 'y' is unknown; the parameters of this "
                                 "task are: "),
                       HasSubstr(" temperature, top_k, ")));
  EXPECT_EQ(error([](InferRequest& r) {
              AddRaw(r, "input_ids", "INT32", {1, 1}, "abcd");
            }),
            "input 'input_ids': input 'text_input' is there, too; must be one "
            "of them");
  EXPECT_EQ(error([](InferRequest& r) {
              r.mutable_inputs(0)->mutable_shape()->Clear();
              r.mutable_inputs(0)->add_shape(1);
              r.mutable_inputs(0)->add_shape(1);
              r.mutable_inputs(0)->add_shape(2);
            }),
            "input 'text_input': shape is [1, 1, 2], must be [inputs], "
            "[inputs, 1] or [1, inputs]");
  EXPECT_EQ(error([](InferRequest& r) {
              r.mutable_inputs(0)->set_datatype("UINT8");
              r.set_raw_input_contents(0, "ab");
            }),
            "input 'text_input': datatype is UINT8, must be BYTES");
  EXPECT_EQ(error([](InferRequest& r) {
              r.set_raw_input_contents(0, RawTexts({"a", "\xff"}));
            }),
            "input 'text_input': element 1 is not UTF-8 at byte 0");
  EXPECT_EQ(error([](InferRequest& r) {
              r.mutable_inputs(0)->mutable_shape()->Set(0, 0);
              r.set_raw_input_contents(0, "");
            }),
            "input 'text_input' has 0 entries, must be 1 to 256 "
            "(max_batch_inputs)");
}

TEST_F(InferTest, WhatIsWrongWithIdsIsNamed) {
  Build({});
  const auto error = [&](auto change) {
    InferRequest request;
    AddRaw(request, "input_ids", "INT64", {1, 2}, RawNumbers<int64_t>({5, 6}));
    change(request);
    return ErrorOf(request);
  };
  EXPECT_EQ(error([](InferRequest& r) {
              r.set_raw_input_contents(0, RawNumbers<int64_t>({5, 1000}));
            }),
            "input_ids[0][1] is 1000, must be in [0, 1000)");
  EXPECT_EQ(
      error([](InferRequest& r) {
        r.set_raw_input_contents(0, RawNumbers<int64_t>({5, int64_t{1} << 40}));
      }),
      "input 'input_ids': element 1 is not in [-2147483648, 2147483647]");
  EXPECT_EQ(error([](InferRequest& r) {
              r.mutable_inputs(0)->mutable_shape()->RemoveLast();
              r.mutable_inputs(0)->set_shape(0, 2);
            }),
            "input 'input_ids': shape is [2], must be [inputs, length]");
  EXPECT_EQ(error([](InferRequest& r) {
              r.mutable_inputs(0)->set_shape(0, int64_t{1} << 40);
              r.mutable_inputs(0)->set_shape(1, 0);
              r.set_raw_input_contents(0, "");
            }),
            "input 'input_ids' has 2147483647 entries, must be 1 to 256 "
            "(max_batch_inputs)");
  EXPECT_EQ(error([](InferRequest& r) {
              AddRaw(r, "sequence_lengths", "INT32", {1},
                     RawNumbers<int32_t>({3}));
            }),
            "input 'sequence_lengths': element 0 is 3, must be in [0, 2]");
  EXPECT_EQ(error([](InferRequest& r) {
              AddRaw(r, "sequence_lengths", "INT32", {2},
                     RawNumbers<int32_t>({1, 1}));
            }),
            "input 'sequence_lengths': shape is [2], must be [1], [1, 1] or "
            "[1, 1]");
  EXPECT_EQ(error([](InferRequest& r) {
              AddRaw(r, "attention_mask", "INT32", {2}, std::string(8, '\0'));
            }),
            "input 'attention_mask': shape is [2], must be [1, 2], that of "
            "'input_ids'");
  EXPECT_EQ(error([](InferRequest& r) {
              AddRaw(r, "token_type_ids", "BOOL", {1, 2}, "ab");
            }),
            "input 'token_type_ids': datatype is BOOL, must be INT32, INT64 "
            "or another integer");
}

TEST_F(InferTest, WhatIsWrongWithParametersIsNamed) {
  Build({});
  const auto error = [&](const std::string& name, auto change) {
    InferRequest request = ShortRequest();
    change(Parameter(request, name));
    return ErrorOf(request);
  };
  using P = inference::InferParameter;
  EXPECT_EQ(error("top_k", [](P& p) { p.set_int64_param(-2); }),
            "top_k is -2, must be in [0, 2147483647]");
  EXPECT_EQ(error("top_k", [](P&) {}), "parameter 'top_k' has no value");
  EXPECT_EQ(error("top_k", [](P& p) { p.set_bool_param(true); }),
            "parameter 'top_k' is a boolean, must be an integer");
  EXPECT_THAT(error("params", [](P& p) { p.set_string_param("{}"); }),
              HasSubstr("parameter 'params' is unknown"));
  EXPECT_EQ(error("priority", [](P& p) { p.set_uint64_param(22); }),
            "parameter 'priority' is 22, must be in [0, 21]");
  EXPECT_EQ(error("timeout", [](P& p) { p.set_int64_param(-1); }),
            "parameter 'timeout' is -1, must be in [0, 9223372036854775807]");
  EXPECT_EQ(error("stream", [](P& p) { p.set_bool_param(true); }),
            "parameter 'stream' is true, must be false in ModelInfer: "
            "ModelStreamInfer streams");
  EXPECT_EQ(error("task", [](P& p) { p.set_string_param("sing"); }),
            "parameter 'task' is 'sing', the tasks of model 'fake' are: "
            "generate, score, fill_mask, embed, embed_tokens");
  EXPECT_EQ(error("sequence_id", [](P& p) { p.set_int64_param(1); }),
            "parameter 'sequence_id' is set, but models keep nothing from one "
            "request to the next");
  EXPECT_EQ(error("triton_x", [](P& p) { p.set_bool_param(true); }),
            "parameter 'triton_x' is not supported");
  InferRequest twice = ShortRequest();
  AddRaw(twice, "max_new_tokens", "INT32", {1}, RawNumbers<int32_t>({1}));
  EXPECT_EQ(ErrorOf(twice),
            "input 'max_new_tokens': there is a parameter of this name, too");
}

TEST_F(InferTest, ModelsAndVersionsAreFound) {
  Build({});
  InferRequest request = ShortRequest();
  request.set_model_name("fake");
  request.set_model_version("1");
  EXPECT_EQ(Infer(request).model_name(), "fake");
  request.set_model_version("2");
  EXPECT_EQ(
      StatusOf(request),
      absl::NotFoundError("model 'fake' has no version '2', its version is 1"));
  request.set_model_name("other");
  EXPECT_EQ(StatusOf(request).code(), absl::StatusCode::kNotFound);
}

TEST_F(InferTest, ATimeoutEndsARequest) {
  FixtureOptions options;
  options.engine.on_step = [this](const StepPlan&) {
    clock_.Advance(absl::Milliseconds(1));
  };
  Build(options);
  InferRequest request = OfTexts({"abc"});
  Parameter(request, "max_new_tokens").set_int64_param(100);
  Parameter(request, "timeout").set_int64_param(10000);  // microseconds
  EXPECT_EQ(StatusOf(request).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_LT(engine_->steps(), 20);
  Parameter(request, "timeout").set_int64_param(10000000);
  EXPECT_EQ(Infer(request).outputs_size(), 9);
}

}  // namespace
}  // namespace attend
