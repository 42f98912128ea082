#include "server/service/alignment.h"

#include <gmock/gmock.h>

#include "tests/server/service/service_fixture.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A source "ab" is tokens of 'a' and of 'b', and the end of sequence.
class AlignmentCallTest : public ServiceFixture {
 protected:
  void SetUp() override { Build({}); }

  template <class Answer>
  std::vector<Answer> Answers(const char* method,
                              const google::protobuf::Message& request) {
    LocalCall call = NewCall(method, request);
    call.Run();
    EXPECT_EQ(call.end(), absl::OkStatus());
    return call.answers<Answer>();
  }
  absl::Status ErrorOf(const google::protobuf::Message& request) {
    LocalCall call = NewCall("Generate", request);
    call.Run();
    return call.end().value_or(absl::OkStatus());
  }
};

v1::GenerateRequest Aligned(v1::Alignments kind, int tokens) {
  v1::GenerateRequest request = Generate("ab", tokens);
  request.set_alignments(kind);
  return request;
}

// Token 2 of the fake's results is made from the end of sequence, which is
// special: of the others, which have equal weights, the first one counts.
TEST_F(AlignmentCallTest, HardIsTheSourceTokenWithTheHighestWeight) {
  const auto answers = Answers<v1::GenerateResponse>(
      "Generate", Aligned(v1::ALIGNMENTS_HARD, 5));
  ASSERT_EQ(answers.size(), 1);
  const v1::GenerateResult& result = answers[0].results(0);
  EXPECT_THAT(result.choices(0).alignment().source(),
              ElementsAre(0, 1, 0, 0, 1));
  EXPECT_THAT(result.choices(0).alignment().weights(), IsEmpty());
  ASSERT_EQ(result.source_tokens_size(), 3);
  EXPECT_EQ(result.source_tokens(1).begin(), 1);
  EXPECT_EQ(result.source_tokens(1).end(), 2);
  EXPECT_TRUE(result.source_tokens(2).special());
}

TEST_F(AlignmentCallTest, SoftHasTheWeightsToo) {
  const auto answers = Answers<v1::GenerateResponse>(
      "Generate", Aligned(v1::ALIGNMENTS_SOFT, 2));
  const v1::Alignment& alignment =
      answers.at(0).results(0).choices(0).alignment();
  EXPECT_THAT(alignment.source(), ElementsAre(0, 1));
  EXPECT_THAT(alignment.weights(),
              ElementsAre(0.75, 0.125, 0.125, 0.125, 0.75, 0.125));
}

TEST_F(AlignmentCallTest, NobodyElseGetsThem) {
  const auto answers =
      Answers<v1::GenerateResponse>("Generate", Generate("ab", 2));
  const v1::GenerateResult& result = answers.at(0).results(0);
  EXPECT_FALSE(result.choices(0).has_alignment());
  EXPECT_THAT(result.source_tokens(), IsEmpty());
}

TEST_F(AlignmentCallTest, AStreamHasThemInTheLastChunkOfAChoice) {
  v1::GenerateRequest request = Aligned(v1::ALIGNMENTS_HARD, 4);
  request.mutable_params()->set_num_beams(2);
  request.mutable_params()->set_num_return_sequences(2);
  const auto chunks = Answers<v1::GenerateChunk>("GenerateStream", request);
  int aligned = 0;
  for (const v1::GenerateChunk& chunk : chunks) {
    const bool last = chunk.finish_reason() != v1::FINISH_REASON_UNSPECIFIED;
    EXPECT_EQ(chunk.has_alignment(), last);
    EXPECT_EQ(chunk.source_tokens_size(), chunk.has_status() ? 3 : 0);
    if (!last) continue;
    ++aligned;
    EXPECT_THAT(chunk.alignment().source(), ElementsAre(0, 1, 0, 0));
  }
  EXPECT_EQ(aligned, 2);
}

TEST_F(AlignmentCallTest, ATargetToScoreIsAligned) {
  v1::ScoreRequest request;
  request.set_alignments(v1::ALIGNMENTS_SOFT);
  v1::ScorePair& pair = *request.add_pairs();
  pair.mutable_source()->set_text("ab");
  pair.mutable_target()->mutable_tokens()->add_ids(7);
  pair.mutable_target()->mutable_tokens()->add_ids(8);
  const auto answers = Answers<v1::ScoreResponse>("Score", request);
  const v1::ScoreResult& result = answers.at(0).results(0);
  EXPECT_THAT(result.alignment().source(), ElementsAre(0, 1));
  EXPECT_EQ(result.alignment().weights_size(), 6);
  EXPECT_EQ(result.source_tokens_size(), 3);
}

TEST_F(AlignmentCallTest, AnEmptySourceHasNone) {
  v1::GenerateRequest request = Aligned(v1::ALIGNMENTS_SOFT, 4);
  request.mutable_inputs(0)->set_text("");
  const auto answers = Answers<v1::GenerateResponse>("Generate", request);
  EXPECT_THAT(answers.at(0).results(0).choices(0).alignment().source(),
              IsEmpty());
}

TEST_F(AlignmentCallTest, UnknownKindIsAnError) {
  EXPECT_EQ(ErrorOf(Aligned(static_cast<v1::Alignments>(3), 1)),
            absl::InvalidArgumentError("alignments is 3, must be in [0, 2]"));
}

TEST(AlignmentModelTest, AModelWithoutAnEncoderHasNone) {
  ModelInfo model;
  model.name = "m";
  model.continues_source = true;
  EXPECT_EQ(SourceAlignments().Prepare(v1::ALIGNMENTS_HARD, 1, model),
            absl::InvalidArgumentError(
                "alignments is ALIGNMENTS_HARD, but model 'm' has no encoder"));
}

}  // namespace
}  // namespace attend
