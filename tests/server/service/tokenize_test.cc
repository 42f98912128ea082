#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <thread>

#include "engine/tensor/check.h"
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

// The only token is a word of 256 KiB less one byte.
class LongWords final : public Tokenizer {
 public:
  explicit LongWords(bool decodes = true) : decodes_(decodes) {}

  absl::StatusOr<Encoding> Encode(const EncodeInput&) const override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<std::string> Decode(absl::Span<const int> ids, Side,
                                     bool) const override {
    ATTEND_CHECK(decodes_);
    return std::string(ids.size() * word_.size(), 'a');
  }
  int vocab_size(Side) const override { return 1; }
  absl::string_view Piece(int, Side) const override { return word_; }
  int TokenId(absl::string_view, Side) const override { return -1; }
  bool IsSpecial(int, Side) const override { return false; }
  absl::string_view TokenText(int) const override { return word_; }

 private:
  const bool decodes_;
  const std::string word_ = std::string((1 << 18) - 1, 'a');
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
  EXPECT_EQ(
      Run("Tokenize", request),
      absl::InvalidArgumentError("the call has more than 1048576 tokens"));
}

TEST_F(TokenizeTest, LimitsTheIdsOfACall) {
  EXPECT_EQ(Run("Detokenize", Sequences(kTokens, 'a' + 1)), absl::OkStatus());
  EXPECT_EQ(
      Run("Detokenize", Sequences(kTokens + 1, 'a' + 1)),
      absl::InvalidArgumentError("the call has more than 1048576 tokens"));
}

// Few ids may be a long text.
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
            absl::InvalidArgumentError("the answer has texts of more than "
                                       "16777216 bytes together"));
}

TEST_F(TokenizeTest, LimitsTheTextOfASequenceBeforeThereIsOne) {
  const LongWords tokenizer(/*decodes=*/false);
  models_.Put(std::make_shared<const ModelEntry>(ModelEntry{
      .name = "long",
      .calls = *model_metrics_,
      .served =
          ServedModel{*engine_, tokenizer, *scheduler_, *model_metrics_}}));
  v1::DetokenizeRequest request;
  request.set_model("long");
  request.add_sequences()->mutable_ids()->Resize(65, 0);
  EXPECT_EQ(
      Run("Detokenize", request),
      absl::InvalidArgumentError("sequences[0] may have 17039360 bytes of "
                                 "text, limit is 16777216"));
}

}  // namespace
}  // namespace attend
