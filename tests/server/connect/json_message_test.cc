#include "server/connect/json_message.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "attend/v1/attend.pb.h"
#include "server/http_call/http_status.h"
#include "server/service/methods.h"
#include "tests/server/connect/random_message.h"

namespace attend {
namespace {

using google::protobuf::Message;
using google::protobuf::util::JsonPrintOptions;
using google::protobuf::util::MessageToJsonString;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Of all requests: what protobuf writes is read as it was.
TEST(JsonMessageTest, ReadsWhatProtobufWrites) {
  std::vector<Method> methods = AttendMethods();
  for (const Method& method : AdminMethods()) methods.push_back(method);
  for (const Method& method : methods) {
    for (int seed = 0; seed < 50; ++seed) {
      const std::unique_ptr<Message> written(method.request->New());
      RandomMessage(seed).Fill(*written);
      // Keys that a map was given twice become one.
      ASSERT_TRUE(written->ParseFromString(written->SerializeAsString()));
      JsonPrintOptions options;
      options.preserve_proto_field_names = seed % 2 == 0;
      options.always_print_enums_as_ints = seed % 3 == 0;
      options.add_whitespace = seed % 5 == 0;
      std::string text;
      ASSERT_TRUE(MessageToJsonString(*written, &text, options).ok());
      const std::unique_ptr<Message> read(method.request->New());
      const absl::Status status = ParseJsonMessage(text, *read);
      ASSERT_TRUE(status.ok()) << status << "\n" << text;
      // As text: NaN is not equal to itself.
      EXPECT_EQ(read->DebugString(), written->DebugString()) << text;
    }
  }
}

TEST(JsonMessageTest, NumbersAndNullAsTheMappingHasThem) {
  v1::GenerateRequest request;
  ASSERT_TRUE(ParseJsonMessage(
                  R"({"priority": "-7", "model": null, "truncate": true,
                      "params": {"maxNewTokens": 2e1, "temperature": 1,
                                 "seed": "18446744073709551615",
                                 "topP": "Infinity", "stop_ids": null}})",
                  request)
                  .ok());
  EXPECT_EQ(request.priority(), -7);
  EXPECT_EQ(request.params().max_new_tokens(), 20);
  EXPECT_EQ(request.params().temperature(), 1);
  EXPECT_EQ(request.params().seed(), 18446744073709551615u);
  EXPECT_TRUE(std::isinf(request.params().top_p()));
}

TEST(JsonMessageTest, ErrorsNameTheFieldTheValueAndWhatItMustBe) {
  const struct {
    const char *json, *field, *message;
  } cases[] = {
      {R"({"inputs": [{}, {"txt": "a"}]})", "inputs[1].txt",
       "inputs[1].txt is not a field that this server knows here"},
      {R"({"\u0001\n": 1})", "\\x01\\n", "\\x01\\n is not a field that"},
      {R"({"priority": 1.5})", "priority",
       "priority is 1.5, must be an integer in [-2147483648, 2147483647]"},
      {R"({"priority": 99999999999})", "priority", "priority is 99999999999,"},
      {R"({"priority": 1e99})", "priority", "priority is 1e+99, must be an"},
      {R"({"priority": " 1"})", "priority", "priority is \" 1\", must be an"},
      {R"({"priority": true})", "priority", "priority is true, must be an"},
      {R"({"params": {"seed": -1}})", "params.seed",
       "params.seed is -1, must be an integer in [0, 18446744073709551615]"},
      {R"({"params": {"temperature": "hot"}})", "params.temperature",
       "params.temperature is \"hot\", must be a number"},
      {R"({"params": {"temperature": 1e39}})", "params.temperature",
       "params.temperature is 1e+39, must be a number"},
      {R"({"truncate": "true"})", "truncate",
       "truncate is \"true\", must be true or false"},
      {R"({"model": 5})", "model", "model is 5, must be a string"},
      {R"({"alignments": "HARD"})", "alignments",
       "alignments is \"HARD\", must be one of \"ALIGNMENTS_NONE\", "
       "\"ALIGNMENTS_HARD\", \"ALIGNMENTS_SOFT\""},
      {R"({"alignments": 7})", "alignments", "alignments is 7, must be one of"},
      {R"({"inputs": {"text": "a"}})", "inputs",
       "inputs is an object, must be a list"},
      {R"({"inputs": "a"})", "inputs", "inputs is \"a\", must be a list"},
      {R"({"inputs": ["a"]})", "inputs[0]",
       "inputs[0] is \"a\", must be an object"},
      {R"({"inputs": [[]]})", "inputs[0]",
       "inputs[0] is a list, must be an object"},
      {R"({"inputs": [{}, null]})", "inputs[1]",
       "inputs[1] is null, must be a value"},
      {R"({"model": []})", "model", "model is a list, must be a string"},
      {R"({"model": {}})", "model", "model is an object, must be a string"},
      {R"({"inputs": [{"tokens": {"ids": [1, 2, {}]}}]})",
       "inputs[0].tokens.ids[2]",
       "inputs[0].tokens.ids[2] is an object, must be an integer in"},
      {R"({"inputs": [{"text": "a", "tokens": {}}]})", "inputs[0].tokens",
       "inputs[0].tokens is given beside text, which excludes it"},
      {R"({"inputs": [{"tokens": {}, "text": "a"}]})", "inputs[0].text",
       "inputs[0].text is given beside tokens, which excludes it"},
      {R"({"model": "a", "model": "a"})", "model", "model is given twice"},
      {R"({"params": {"topK": 1, "top_k": 1}})", "params.top_k",
       "params.top_k is given twice"},
      {R"({"params": {"logitBias": {"5": 1, "5": 1}}})", "params.logit_bias[5]",
       "params.logit_bias[5] is given twice"},
      {R"({"params": {"logitBias": {"x": 1}}})", "params.logit_bias[x]",
       "params.logit_bias[x] has a key that must be an integer in"},
      {R"({"params": {"logitBias": {"5": 1, "+5": 1}}})",
       "params.logit_bias[+5]",
       "params.logit_bias[+5] has a key that must be an integer in"},
      {R"({"params": {"logitBias": {"05": 1}}})", "params.logit_bias[05]",
       "params.logit_bias[05] has a key that must be an integer in"},
      {R"({"params": {"logitBias": {"5": null}}})", "params.logit_bias[5]",
       "params.logit_bias[5] is null, must be a value"},
      {R"({"params": {"logitBias": {"5": {}}}})", "params.logit_bias[5]",
       "params.logit_bias[5] is an object, must be a number"},
      {R"({"params": {"logitBias": []}})", "params.logit_bias",
       "params.logit_bias is a list, must be an object"},
      {R"({"params": {"logitBias": 1}})", "params.logit_bias",
       "params.logit_bias is 1, must be an object"},
  };
  for (const auto& c : cases) {
    v1::GenerateRequest request;
    const absl::Status status = ParseJsonMessage(c.json, request);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.json;
    EXPECT_THAT(std::string(status.message()), StartsWith(c.message)) << c.json;
    EXPECT_EQ(FieldOf(status), c.field) << c.json;
  }
}

TEST(JsonMessageTest, DurationsAreTexts) {
  v1::ProfileRequest request;
  ASSERT_TRUE(ParseJsonMessage(R"({"duration": "-1.5s"})", request).ok());
  EXPECT_EQ(request.duration().seconds(), -1);
  EXPECT_EQ(request.duration().nanos(), -500'000'000);
  for (const char* value : {"{}",
                            "[]",
                            "{\"seconds\": 1}",
                            "1",
                            "true",
                            "\"\"",
                            "\"s\"",
                            "\"1\"",
                            "\"1.s\"",
                            "\".5s\"",
                            "\"1.0000000001s\"",
                            "\"--1s\"",
                            "\"1.-5s\"",
                            "\" 1s\"",
                            "\"1 s\"",
                            "\"+1s\"",
                            "\"1e3s\"",
                            "\"0x1s\"",
                            "\"315576000001s\"",
                            "\"9999999999999s\""}) {
    const std::string body = absl::StrCat("{\"duration\": ", value, "}");
    v1::ProfileRequest refused;
    const absl::Status status = ParseJsonMessage(body, refused);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << body;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("must be a duration, as \"1.5s\""))
        << body;
  }
}

TEST(JsonMessageTest, WhatIsNoJsonObjectIsAnError) {
  std::string deep = R"({"inputs": )";
  deep.append(1000000, '[');
  for (const std::string& text : std::vector<std::string>{
           "", " ", "null", "1", "\"a\"", "[]", "[{}]", "{", "{} {}",
           "{'model': 1}", "{model: 1}", "{\"model\": \"\xff\"}",
           "{\"model\": \"\\ud800\"}", "{\"priority\": 1,}",
           "{\"params\": {\"temperature\": 1e999}}",
           "{\"params\": {\"seed\": 01}}", std::string("{}\0{}", 5),
           std::string("{}\0", 3), deep}) {
    v1::GenerateRequest request;
    const absl::Status status = ParseJsonMessage(text, request);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text.substr(0, 50);
    EXPECT_LT(status.message().size(), 500u);
  }
}

}  // namespace
}  // namespace attend
