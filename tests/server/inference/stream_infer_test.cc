// One request of ModelStreamInfer, without the stream.

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "tests/server/inference/inference_fixture.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Part = inference::ModelStreamInferResponse;

class StreamInferTest : public InferenceFixture {
 protected:
  struct Ended {
    std::vector<Part> parts;
    absl::Status status;
  };
  Ended Stream(const InferRequest& request) {
    LocalCall call = NewCall("ModelStreamInfer", request);
    call.Run();
    return {call.answers<Part>(), call.end().value_or(absl::OkStatus())};
  }
};

bool IsFinal(const Part& part) {
  return part.infer_response()
      .parameters()
      .at("triton_final_response")
      .bool_param();
}

InferRequest ShortRequest() {
  InferRequest request = OfTexts({"abcdefghij", "abcdefgh"});
  request.set_id("7");
  Parameter(request, "max_new_tokens").set_int64_param(3);
  return request;
}

TEST_F(StreamInferTest, PartsMakeTheWhole) {
  Build({});
  InferRequest request = ShortRequest();
  Parameter(request, "num_return_sequences").set_int64_param(2);
  Parameter(request, "num_beams").set_int64_param(2);
  Parameter(request, "log_probs").set_bool_param(true);
  const Ended ended = Stream(request);
  EXPECT_EQ(ended.status, absl::OkStatus());
  std::map<std::pair<int, int>, std::string> texts;
  std::map<std::pair<int, int>, std::vector<int32_t>> ids;
  std::map<std::pair<int, int>, std::string> reasons;
  for (const Part& part : ended.parts) {
    EXPECT_EQ(part.error_message(), "");
    EXPECT_EQ(part.infer_response().id(), "7");
    EXPECT_EQ(part.infer_response().model_name(), "fake");
    EXPECT_EQ(IsFinal(part), &part == &ended.parts.back());
    const std::pair of(
        OutputOf(part.infer_response(), "batch_index").numbers<int32_t>()[0],
        OutputOf(part.infer_response(), "sequence_index")
            .numbers<int32_t>()[0]);
    const Output text = OutputOf(part.infer_response(), "text_output");
    EXPECT_THAT(text.shape, ElementsAre(1, 1));
    texts[of] += text.texts()[0];
    const auto more =
        OutputOf(part.infer_response(), "output_ids").numbers<int32_t>();
    ids[of].insert(ids[of].end(), more.begin(), more.end());
    EXPECT_EQ(
        OutputOf(part.infer_response(), "log_probs").numbers<float>().size(),
        more.size());
    reasons[of] += OutputOf(part.infer_response(), "finish_reason").texts()[0];
  }
  ASSERT_EQ(texts.size(), 4);
  EXPECT_EQ((texts[{0, 1}]), "w341 w342 w343");
  EXPECT_EQ((texts[{1, 0}]), "w279 w280 w281");
  EXPECT_THAT((ids[{1, 1}]), ElementsAre(279, 280, 281));
  EXPECT_EQ((reasons[{1, 1}]), "max_length");
  ExpectCounted("ModelStreamInfer", "OK");
}

TEST_F(StreamInferTest, OneResponseWhereNothingStreams) {
  Build({});
  InferRequest request = ShortRequest();
  Parameter(request, "stream").set_bool_param(false);
  Ended ended = Stream(request);
  ASSERT_EQ(ended.parts.size(), 1);
  EXPECT_TRUE(IsFinal(ended.parts[0]));
  EXPECT_THAT(OutputOf(ended.parts[0].infer_response(), "text_output").texts(),
              ElementsAre("w341 w342 w343", "w279 w280 w281"));
  request.mutable_parameters()->clear();
  Parameter(request, "task").set_string_param("embed");
  Parameter(request, "triton_enable_empty_final_response").set_bool_param(true);
  ended = Stream(request);
  ASSERT_EQ(ended.parts.size(), 1);
  EXPECT_TRUE(IsFinal(ended.parts[0]));
  EXPECT_THAT(OutputOf(ended.parts[0].infer_response(), "embedding").shape,
              ElementsAre(2, 4));
}

TEST_F(StreamInferTest, AFailureIsToldInAResponse) {
  Build({});
  InferRequest request = ShortRequest();
  Parameter(request, "temperature").set_double_param(-1);
  const Ended ended = Stream(request);
  EXPECT_EQ(ended.status.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(ended.parts.size(), 1);
  EXPECT_EQ(ended.parts[0].error_message(),
            "temperature is -1, must be in (0, 100]");
  EXPECT_EQ(ended.parts[0].infer_response().id(), "7");
  EXPECT_EQ(ended.parts[0].infer_response().model_name(), "fake");
  EXPECT_EQ(ended.parts[0].infer_response().model_version(), "1");
  EXPECT_TRUE(IsFinal(ended.parts[0]));
  ExpectCounted("ModelStreamInfer", "INVALID_ARGUMENT");
}

TEST_F(StreamInferTest, AFailedInputLeavesTheOthers) {
  FixtureOptions options;
  options.engine.info.max_source_tokens = 10;
  Build(options);
  InferRequest request = ShortRequest();
  Ended ended = Stream(request);
  EXPECT_EQ(ended.status, absl::OkStatus());
  int errors = 0;
  std::string text;
  for (const Part& part : ended.parts) {
    EXPECT_EQ(IsFinal(part), &part == &ended.parts.back());
    if (part.error_message().empty()) {
      text += OutputOf(part.infer_response(), "text_output").texts()[0];
      continue;
    }
    ++errors;
    EXPECT_EQ(part.error_message(),
              "input[0] has 11 tokens, limit is 10 (max_source_tokens)");
    EXPECT_EQ(part.infer_response().id(), "7");
  }
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(text, "w279 w280 w281");

  for (const char* name : {"batch_index", "status_code"}) {
    request.add_outputs()->set_name(name);
  }
  ended = Stream(request);
  std::map<int, int> codes;
  for (const Part& part : ended.parts) {
    EXPECT_EQ(part.error_message(), "");
    codes[OutputOf(part.infer_response(), "batch_index")
              .numbers<int32_t>()[0]] +=
        OutputOf(part.infer_response(), "status_code").numbers<int32_t>()[0];
  }
  EXPECT_EQ(codes, (std::map<int, int>{{0, 3}, {1, 0}}));
}

// Its id is read all the same, where that takes little.
TEST_F(StreamInferTest, ARefusedRequestIsNamed) {
  Build({});
  environment_->Drain();
  InferRequest request = ShortRequest();
  Ended ended = Stream(request);
  EXPECT_EQ(ended.status.code(), absl::StatusCode::kUnavailable);
  ASSERT_EQ(ended.parts.size(), 1);
  EXPECT_EQ(ended.parts[0].infer_response().id(), "7");
  EXPECT_THAT(ended.parts[0].error_message(), HasSubstr("draining"));
  request.set_raw_input_contents(0, std::string(20000, 'a'));
  ended = Stream(request);
  ASSERT_EQ(ended.parts.size(), 1);
  EXPECT_EQ(ended.parts[0].infer_response().id(), "");
}

}  // namespace
}  // namespace attend
