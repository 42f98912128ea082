// What cannot be asked of encoders, through the real server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/encoder_server.h"
#include "tests/integration/raw_call.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr int kHuge = 1 << 30;

class EncoderErrorsTest : public testing::Test {
 protected:
  // The status of a request for `text` after a change; of its only input, if
  // the call itself is OK.
  template <class Request>
  absl::Status Ask(const std::string& model, const std::string& text,
                   const std::function<void(Request&)>& change = {}) {
    auto request = ForText<Request>(model, text);
    if (change) change(request);
    const auto response = Call(request);
    if (!response.ok()) return response.status();
    const v1::Status& status = response->results(0).status();
    return absl::Status(static_cast<absl::StatusCode>(status.code()),
                        status.message());
  }

  absl::StatusOr<v1::EmbedResponse> Call(const v1::EmbedRequest& request) {
    return client_.Embed(request);
  }
  absl::StatusOr<v1::ClassifyResponse> Call(
      const v1::ClassifyRequest& request) {
    return client_.Classify(request);
  }
  absl::StatusOr<v1::FillMaskResponse> Call(
      const v1::FillMaskRequest& request) {
    return client_.FillMask(request);
  }

  absl::Status Rerank(const std::function<void(v1::RerankRequest&)>& change) {
    v1::RerankRequest request;
    request.set_model("bert-reranker");
    request.set_query("a dog");
    request.add_documents("a small dog");
    change(request);
    return client_.Rerank(request).status();
  }

  Client client_{EncoderServer().client_options()};
};

void ExpectInvalid(const absl::Status& status, const std::string& what) {
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status << "\n" << what;
  EXPECT_THAT(std::string(status.message()), HasSubstr(what));
}

TEST_F(EncoderErrorsTest, BadFieldsOfEmbedAreNamed) {
  using Request = v1::EmbedRequest;
  struct Case {
    const char* field;
    std::function<void(Request&)> change;
  };
  for (const Case& bad : std::vector<Case>{
           {"inputs", [](Request& r) { r.clear_inputs(); }},
           {"inputs[0]", [](Request& r) { r.mutable_inputs(0)->Clear(); }},
           {"pair", [](Request& r) { r.mutable_inputs(0)->set_pair("b"); }},
           {"dimensions is -1, must be in [0, 24]",
            [](Request& r) { r.set_dimensions(-1); }},
           {"dimensions is 25", [](Request& r) { r.set_dimensions(25); }},
           {"dimensions is ", [](Request& r) { r.set_dimensions(kHuge); }},
           {"per_token",
            [](Request& r) {
              r.set_per_token(true);
              r.set_dimensions(2);
            }},
           {"prompt_name is 'q'", [](Request& r) { r.set_prompt_name("q"); }},
           {"encoding is 9",
            [](Request& r) {
              r.set_encoding(static_cast<v1::EmbeddingEncoding>(9));
            }},
           {"priority", [](Request& r) { r.set_priority(11); }},
           {"ids[0] is 61",
            [](Request& r) {
              r.mutable_inputs(0)->mutable_tokens()->add_ids(61);
            }},
           {"types[0] is 2",
            [](Request& r) {
              r.mutable_inputs(0)->mutable_tokens()->add_ids(9);
              r.mutable_inputs(0)->mutable_tokens()->add_types(2);
            }},
           {"ids[0] is -1", [](Request& r) {
              r.mutable_inputs(0)->mutable_tokens()->add_ids(-1);
            }}}) {
    ExpectInvalid(Ask<Request>("bert-mean-pooling", "a dog", bad.change),
                  bad.field);
  }
}

TEST_F(EncoderErrorsTest, BadFieldsOfTheOthersAreNamed) {
  using Classify = v1::ClassifyRequest;
  using FillMask = v1::FillMaskRequest;
  ExpectInvalid(
      Ask<Classify>("bert-4x-labels", "", [](auto& r) { r.set_top_k(-1); }),
      "top_k is -1");
  ExpectInvalid(
      Ask<Classify>("bert-4x-labels", "", [](auto& r) { r.clear_inputs(); }),
      "inputs");
  for (const int top_k : {-1, 101, kHuge}) {
    ExpectInvalid(Ask<FillMask>("bert-mask", "a [MASK]",
                                [&](auto& r) { r.set_top_k(top_k); }),
                  absl::StrCat("top_k is ", top_k, ", must be in [0, 100]"));
  }
  ExpectInvalid(Ask<FillMask>("bert-mask", "no mask"),
                "must have at least one: [MASK]");
  ExpectInvalid(Rerank([](auto& r) { r.clear_documents(); }), "documents");
  ExpectInvalid(Rerank([](auto& r) { r.set_top_n(-1); }), "top_n is -1");
  // More than there are is all of them.
  EXPECT_TRUE(Rerank([](auto& r) { r.set_top_n(kHuge); }).ok());
  EXPECT_TRUE(Ask<Classify>("bert-4x-labels", "a", [](auto& r) {
                r.set_top_k(kHuge);
              }).ok());
  EXPECT_TRUE(Ask<Classify>("bert-tokens", "a dog", [](auto& r) {
                r.set_top_k(kHuge);
              }).ok());
}

TEST_F(EncoderErrorsTest, AModelThatCannotSaysWhatItCan) {
  ExpectInvalid(
      Ask<v1::ClassifyRequest>("bert-mean-pooling", "a"),
      "model 'bert-mean-pooling' cannot classify or classify tokens; it can "
      "embed");
  ExpectInvalid(Ask<v1::FillMaskRequest>("bert-4x-labels", "[MASK]"),
                "cannot fill mask; it can embed, classify");
  ExpectInvalid(Ask<v1::FillMaskRequest>("t5-few-buckets", "[MASK]"),
                "it can generate, embed");
  ExpectInvalid(Rerank([](auto& r) { r.set_model("bert-4x-labels"); }),
                "model 'bert-4x-labels' cannot rerank");
  v1::GenerateRequest generate;
  generate.set_model("bert-mean-pooling");
  generate.add_inputs()->set_text("a");
  ExpectInvalid(client_.Generate(generate).status(), "cannot generate");
}

TEST_F(EncoderErrorsTest, UnknownModelIsNotFound) {
  for (const absl::Status& status :
       {Ask<v1::EmbedRequest>("bert-z", "a"),
        Ask<v1::ClassifyRequest>("bert-z", "a"),
        Ask<v1::FillMaskRequest>("bert-z", "a"),
        Rerank([](auto& r) { r.set_model("bert-z"); })}) {
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("bert-z"));
  }
}

TEST_F(EncoderErrorsTest, EmptyTextsHaveTheirSpecialTokens) {
  EXPECT_TRUE(Ask<v1::EmbedRequest>("bert-mean-pooling", "").ok());
  EXPECT_TRUE(Ask<v1::EmbedRequest>("t5-few-buckets", "").ok());
  EXPECT_TRUE(Ask<v1::ClassifyRequest>("bert-4x-labels", "").ok());
  EXPECT_TRUE(Rerank([](auto& r) {
                r.set_query("");
                r.set_documents(0, "");
              }).ok());
  const auto tokens =
      client_.Classify(ForText<v1::ClassifyRequest>("bert-tokens", " \n "));
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ(tokens->results(0).tokens_size(), 0);
  EXPECT_EQ(tokens->results(0).usage().source_tokens(), 2);
}

TEST_F(EncoderErrorsTest, HugeTextsAreRefusedOrCut) {
  std::string text;
  while (text.size() < 200000) text += "a small dog runs ";
  const auto cut = [](auto& request) { request.set_truncate(true); };
  for (const char* model : {"bert-mean-pooling", "bart-gelu"}) {
    ExpectInvalid(Ask<v1::EmbedRequest>(model, text), "tokens");
    EXPECT_TRUE(Ask<v1::EmbedRequest>(model, text, cut).ok()) << model;
  }
  ExpectInvalid(Ask<v1::ClassifyRequest>("bert-4x-labels", text), "tokens");
  EXPECT_TRUE(Ask<v1::ClassifyRequest>("bert-4x-labels", text, cut).ok());
  ExpectInvalid(Ask<v1::FillMaskRequest>("bert-mask", "[MASK] " + text),
                "tokens");
  EXPECT_TRUE(
      Ask<v1::FillMaskRequest>("bert-mask", "[MASK] " + text, cut).ok());
  // A mask that is cut off is none.
  ExpectInvalid(Ask<v1::FillMaskRequest>("bert-mask", text + "[MASK]", cut),
                "must have at least one");
  while (text.size() < (17 << 20)) text += text;
  EXPECT_TRUE(absl::IsResourceExhausted(
      Ask<v1::EmbedRequest>("bert-mean-pooling", text, cut)));
}

TEST_F(EncoderErrorsTest, TextThatIsNotUtf8IsNoMessage) {
  const auto channel = RawChannel(EncoderServer().address());
  for (const char* method : {"Embed", "Classify", "FillMask"}) {
    // inputs { text: ff fe }
    const RawReply reply =
        CallUnary(*channel, absl::StrCat("/attend.v1.Attend/", method),
                  "\x12\x04\x0a\x02\xff\xfe");
    EXPECT_EQ(reply.status.error_code(), grpc::INVALID_ARGUMENT);
    EXPECT_THAT(
        reply.status.error_message(),
        HasSubstr(absl::StrCat("not a valid attend.v1.", method, "Request")));
  }
}

TEST_F(EncoderErrorsTest, ABadInputDoesNotHarmItsNeighbours) {
  auto request = ForText<v1::EmbedRequest>("bert-mean-pooling", Words(1));
  const auto alone = client_.Embed(request);
  request.add_inputs()->mutable_tokens()->add_ids(1234567);
  request.add_inputs()->set_text(Words(1));
  const auto response = client_.Embed(request);
  ASSERT_TRUE(alone.ok() && response.ok()) << response.status();
  EXPECT_EQ(response->results(1).status().code(), 3);  // INVALID_ARGUMENT
  EXPECT_THAT(response->results(1).status().message(), HasSubstr("inputs[1]"));
  for (const int i : {0, 2}) {
    EXPECT_EQ(response->results(i).values(0), alone->results(0).values(0));
  }
}

}  // namespace
}  // namespace attend
