#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <thread>

#include "tests/server/service/service_fixture.h"

namespace attend {
namespace {

constexpr int kTokens = 1 << 20;
constexpr int kTexts = 256;

// The fake's tokens are bytes, and one for the end.
v1::TokenizeRequest Texts(int tokens) {
  v1::TokenizeRequest request;
  for (int i = 0; i < kTexts; ++i) {
    request.add_texts(std::string(tokens / kTexts - 1, 'a'));
  }
  return request;
}

v1::DetokenizeRequest Sequences(int tokens, int id) {
  v1::DetokenizeRequest request;
  request.set_side(v1::SIDE_TARGET);
  request.add_sequences();
  request.add_sequences()->mutable_ids()->Resize(tokens, id);
  return request;
}

// The only token is a word of 256 KiB.
class LongWords final : public Tokenizer {
 public:
  absl::StatusOr<Encoding> Encode(const EncodeInput&) const override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<std::string> Decode(absl::Span<const int> ids, Side,
                                     bool) const override {
    return std::string(ids.size() << 18, 'a');
  }
  int vocab_size(Side) const override { return 1; }
  absl::string_view Piece(int, Side) const override { return ""; }
  int TokenId(absl::string_view, Side) const override { return -1; }
  bool IsSpecial(int, Side) const override { return false; }
  absl::string_view TokenText(int) const override { return ""; }
};

class TokenizeTest : public ServiceFixture {
 protected:
  TokenizeTest() { Build({}); }

  absl::Status Run(const std::string& method,
                   const google::protobuf::Message& request) {
    LocalCall call = NewCall(method, request);
    call.Run();
    return call.end().value_or(absl::UnknownError("no end"));
  }
};

// So that a long answer holds up no other call of the call's thread.
TEST_F(TokenizeTest, TheTokenizerThreadWritesTheAnswer) {
  v1::TokenizeRequest request;
  request.add_texts("a");
  LocalCall call = NewCall("Tokenize", request);
  call.Run();
  ASSERT_EQ(call.end(), absl::OkStatus());
  const auto answers = call.answers<v1::TokenizeResponse>();
  ASSERT_EQ(answers.size(), 1);
  EXPECT_EQ(answers[0].results(0).pieces_size(), 2);
  EXPECT_NE(call.writer(), std::thread::id());
  EXPECT_NE(call.writer(), std::this_thread::get_id());
}

TEST_F(TokenizeTest, LimitsTheTokensOfACall) {
  v1::TokenizeRequest request = Texts(kTokens);
  EXPECT_EQ(Run("Tokenize", request), absl::OkStatus());
  request.mutable_texts(kTexts - 1)->push_back('a');
  EXPECT_EQ(Run("Tokenize", request),
            absl::InvalidArgumentError("texts and chats have over 1048576 "
                                       "tokens together, the limit of a call"));
}

TEST_F(TokenizeTest, LimitsTheIdsOfACall) {
  EXPECT_EQ(Run("Detokenize", Sequences(kTokens, 'a' + 1)), absl::OkStatus());
  EXPECT_EQ(Run("Detokenize", Sequences(kTokens + 1, 'a' + 1)),
            absl::InvalidArgumentError("sequences have over 1048576 tokens "
                                       "together, the limit of a call"));
}

// A sequence of few ids may be a long text.
TEST_F(TokenizeTest, LimitsTheTextsOfACall) {
  const LongWords tokenizer;
  models_.Put(std::make_shared<const ModelEntry>(ModelEntry{
      .name = "long",
      .calls = *model_metrics_,
      .served =
          ServedModel{*engine_, tokenizer, *scheduler_, *model_metrics_}}));
  v1::DetokenizeRequest request = Sequences(64, 0);
  request.set_model("long");
  EXPECT_EQ(Run("Detokenize", request), absl::OkStatus());
  request.mutable_sequences(0)->add_ids(0);
  EXPECT_EQ(Run("Detokenize", request),
            absl::InvalidArgumentError(
                "the texts of the sequences have over 16777216 bytes together, "
                "the limit of a call"));
}

}  // namespace
}  // namespace attend
