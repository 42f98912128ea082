// Every way to ask for what cannot be, through the real server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/integration/raw_call.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using Request = v1::GenerateRequest;

v1::GenerationParams& Params(Request& request) {
  return *request.mutable_params();
}

struct BadRequest {
  const char* field;  // the message names it
  void (*change)(Request&);
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const BadRequest kBadRequests[] = {
    {"inputs", [](Request& r) { r.clear_inputs(); }},
    {"inputs",
     [](Request& r) {
       for (int i = 0; i < 256; ++i) r.add_inputs()->set_text("x");
     }},
    {"inputs[0]", [](Request& r) { r.mutable_inputs(0)->clear_input(); }},
    {"ids[1] is 8001",
     [](Request& r) {
       r.mutable_inputs(0)->mutable_tokens()->add_ids(5);
       r.mutable_inputs(0)->mutable_tokens()->add_ids(8001);
     }},
    {"ids[0] is -1",
     [](Request& r) { r.mutable_inputs(0)->mutable_tokens()->add_ids(-1); }},
    {"attention_mask",
     [](Request& r) {
       r.mutable_inputs(0)->mutable_tokens()->add_ids(5);
       r.mutable_inputs(0)->mutable_tokens()->add_attention_mask(1);
       r.mutable_inputs(0)->mutable_tokens()->add_attention_mask(1);
     }},
    {"attention_mask[0] is 2",
     [](Request& r) {
       r.mutable_inputs(0)->mutable_tokens()->add_ids(5);
       r.mutable_inputs(0)->mutable_tokens()->add_attention_mask(2);
     }},
    {"priority", [](Request& r) { r.set_priority(11); }},
    {"priority", [](Request& r) { r.set_priority(-11); }},
    {"max_new_tokens", [](Request& r) { Params(r).set_max_new_tokens(-1); }},
    {"max_new_tokens", [](Request& r) { Params(r).set_max_new_tokens(-5); }},
    {"max_new_tokens", [](Request& r) { Params(r).set_max_new_tokens(512); }},
    {"min_new_tokens", [](Request& r) { Params(r).set_min_new_tokens(-1); }},
    {"min_new_tokens",
     [](Request& r) {
       Params(r).set_max_new_tokens(5);
       Params(r).set_min_new_tokens(6);
     }},
    {"num_beams", [](Request& r) { Params(r).set_num_beams(0); }},
    {"num_beams", [](Request& r) { Params(r).set_num_beams(1000); }},
    {"num_return_sequences",
     [](Request& r) { Params(r).set_num_return_sequences(2); }},
    {"num_return_sequences",
     [](Request& r) { Params(r).set_num_return_sequences(0); }},
    {"length_penalty", [](Request& r) { Params(r).set_length_penalty(11); }},
    {"length_penalty", [](Request& r) { Params(r).set_length_penalty(kNan); }},
    {"early_stopping",
     [](Request& r) {
       Params(r).set_early_stopping(static_cast<v1::EarlyStopping>(9));
     }},
    {"do_sample",
     [](Request& r) {
       Params(r).set_do_sample(true);
       Params(r).set_num_beams(2);
     }},
    {"temperature", [](Request& r) { Params(r).set_temperature(0); }},
    {"temperature", [](Request& r) { Params(r).set_temperature(kInfinity); }},
    {"temperature", [](Request& r) { Params(r).set_temperature(kNan); }},
    {"top_k", [](Request& r) { Params(r).set_top_k(-1); }},
    {"top_p", [](Request& r) { Params(r).set_top_p(0); }},
    {"top_p", [](Request& r) { Params(r).set_top_p(1.5f); }},
    {"min_p", [](Request& r) { Params(r).set_min_p(-0.5f); }},
    {"repetition_penalty",
     [](Request& r) { Params(r).set_repetition_penalty(0); }},
    {"presence_penalty",
     [](Request& r) { Params(r).set_presence_penalty(101); }},
    {"frequency_penalty",
     [](Request& r) { Params(r).set_frequency_penalty(kNan); }},
    {"no_repeat_ngram_size",
     [](Request& r) { Params(r).set_no_repeat_ngram_size(-1); }},
    {"bad_words[0]", [](Request& r) { Params(r).add_bad_words(); }},
    {"bad_words[0]",
     [](Request& r) { Params(r).add_bad_words()->add_ids(9999); }},
    {"bad_words",
     [](Request& r) {
       for (int i = 0; i < 4097; ++i) Params(r).add_bad_words()->add_ids(1);
     }},
    {"logit_bias",
     [](Request& r) { (*Params(r).mutable_logit_bias())[9999] = 1; }},
    {"sequence_bias[0]", [](Request& r) { Params(r).add_sequence_bias(); }},
    {"suppress_tokens[0]",
     [](Request& r) { Params(r).add_suppress_tokens(-1); }},
    {"begin_suppress_tokens[0]",
     [](Request& r) { Params(r).add_begin_suppress_tokens(9999); }},
    {"prefix_tokens",
     [](Request& r) { Params(r).mutable_prefix_tokens()->add_ids(-2); }},
    {"forced prefix",
     [](Request& r) {
       for (int i = 0; i < 511; ++i) {
         Params(r).mutable_prefix_tokens()->add_ids(12);
       }
     }},
    {"stop_ids", [](Request& r) { Params(r).add_stop_ids(8001); }},
    {"stop_ids",
     [](Request& r) {
       for (int i = 0; i < 65; ++i) Params(r).add_stop_ids(i);
     }},
    {"stop_strings[0]", [](Request& r) { Params(r).add_stop_strings(""); }},
    {"stop_strings[0]",
     [](Request& r) { Params(r).add_stop_strings(std::string(257, 'x')); }},
    {"stop_strings",
     [](Request& r) {
       for (int i = 0; i < 17; ++i) Params(r).add_stop_strings("x");
     }},
    {"top_log_probs", [](Request& r) { Params(r).set_top_log_probs(21); }},
    {"top_log_probs", [](Request& r) { Params(r).set_top_log_probs(-1); }},
};

class ErrorsTest : public ::testing::Test {
 protected:
  // What only a real server can say: the engine's limits are behind it.
  v1::Model Model() { return client_.GetModel("").value(); }

  Client client_{SharedServer().client_options()};
};

TEST_F(ErrorsTest, BadFieldsAreInvalidAndNamed) {
  for (const BadRequest& bad : kBadRequests) {
    Request request = Greedy({"Hello."});
    bad.change(request);
    SCOPED_TRACE(request.ShortDebugString().substr(0, 200));
    for (const absl::Status& status : {client_.Generate(request).status(),
                                       Collect(client_, request).status()}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
      EXPECT_THAT(status.message(), HasSubstr(bad.field));
    }
  }
}

TEST_F(ErrorsTest, OtherMethodsCheckTheirFieldsToo) {
  v1::ScoreRequest score;
  EXPECT_TRUE(absl::IsInvalidArgument(client_.Score(score).status()));
  score.add_pairs()->mutable_source()->set_text("one");
  EXPECT_TRUE(absl::IsInvalidArgument(client_.Score(score).status()));
  score.mutable_pairs(0)->mutable_target()->set_text("eins");
  score.set_top_log_probs(21);
  EXPECT_TRUE(absl::IsInvalidArgument(client_.Score(score).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(client_.Tokenize({}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(client_.Detokenize({}).status()));
  v1::DetokenizeRequest detokenize;
  detokenize.add_sequences()->add_ids(8001);
  EXPECT_TRUE(absl::IsInvalidArgument(client_.Detokenize(detokenize).status()));
}

TEST_F(ErrorsTest, UnknownModelIsNotFound) {
  Request request = Greedy({"Hello."});
  request.set_model("de-fr");
  const absl::Status status = client_.Generate(request).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("de-fr"));
  EXPECT_TRUE(absl::IsNotFound(Collect(client_, request).status()));
  EXPECT_TRUE(absl::IsNotFound(client_.GetModel("de-fr").status()));
  request.set_model(kModelName);
  EXPECT_TRUE(client_.Generate(request).ok());
}

TEST_F(ErrorsTest, OverLongSourceIsRefusedOrCut) {
  const int limit = Model().max_source_tokens();
  Request request = Exactly({""}, 2);
  v1::Tokens& tokens = *request.mutable_inputs(0)->mutable_tokens();
  for (int i = 0; i < limit; ++i) tokens.add_ids(10 + i % 50);
  tokens.add_ids(0);  // the end of sequence, which a cut keeps
  const absl::Status refused = client_.Generate(request).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("max_source_tokens"));

  request.set_truncate(true);
  const v1::GenerateResult cut = Only(client_.Generate(request));
  EXPECT_TRUE(cut.usage().truncated());
  EXPECT_EQ(cut.usage().source_tokens(), limit);
  request.set_truncate(false);
  tokens.mutable_ids()->RemoveLast();
  tokens.set_ids(limit - 1, 0);
  const v1::GenerateResult exact = Only(client_.Generate(request));
  EXPECT_FALSE(exact.usage().truncated());
  EXPECT_EQ(cut.choices(0).ids(0), exact.choices(0).ids(0));
  EXPECT_EQ(cut.choices(0).ids(1), exact.choices(0).ids(1));
}

TEST_F(ErrorsTest, HugeTextIsRefusedAndLeavesTheServerWell) {
  std::string text;
  while (text.size() < 2000000) text += "and then a dog ";
  const absl::Status status = client_.Generate(Greedy({text})).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status))
      << status.message().substr(0, 99);
  while (text.size() < (17 << 20)) text += text;
  EXPECT_TRUE(
      absl::IsResourceExhausted(client_.Generate(Greedy({text})).status()));
  EXPECT_TRUE(client_.Generate(Greedy({"Hello."})).ok());
}

TEST_F(ErrorsTest, AMaskWithHolesIsTheInputWithoutItsPadding) {
  // The text's ids, then the same padded at the end: equal answers.
  v1::TokenizeRequest tokenize;
  tokenize.add_texts(Sentence(0));
  const auto ids = client_.Tokenize(tokenize)->results(0).ids();
  Request plain = Greedy({""});
  plain.mutable_params()->set_log_probs(true);
  Request padded = plain;
  *plain.mutable_inputs(0)->mutable_tokens()->mutable_ids() = ids;
  v1::Tokens& tokens = *padded.mutable_inputs(0)->mutable_tokens();
  for (int id : ids) {
    tokens.add_ids(id);
    tokens.add_attention_mask(1);
  }
  for (int i = 0; i < 7; ++i) {
    tokens.add_ids(8000);
    tokens.add_attention_mask(0);
  }
  const std::string expected = Bits(*client_.Generate(plain));
  EXPECT_EQ(Bits(*client_.Generate(padded)), expected);
  // What a hole hides does not matter.
  tokens.set_attention_mask(2, 0);
  const std::string hole = Bits(*client_.Generate(padded));
  tokens.set_ids(2, 77);
  EXPECT_EQ(Bits(*client_.Generate(padded)), hole);
  EXPECT_NE(hole, expected);
}

TEST_F(ErrorsTest, ABadInputDoesNotHarmItsNeighbours) {
  const v1::Choice first =
      Only(client_.Generate(Greedy({Sentence(0)}))).choices(0);
  Request request = Greedy({Sentence(0), "", Sentence(0)});
  request.mutable_inputs(1)->mutable_tokens()->add_ids(123456);
  for (const auto& response :
       {client_.Generate(request), Collect(client_, request)}) {
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response->results(0).choices(0).text(), first.text());
    EXPECT_EQ(response->results(2).choices(0).text(), first.text());
    EXPECT_EQ(response->results(1).status().code(), 3);  // INVALID_ARGUMENT
    EXPECT_THAT(response->results(1).status().message(),
                HasSubstr("inputs[1]"));
    EXPECT_EQ(response->results(1).choices_size(), 0);
  }
}

TEST_F(ErrorsTest, BytesThatAreNoMessageAreRefused) {
  const auto channel = RawChannel(SharedServer().address());
  const std::string method = "/attend.v1.Attend/Generate";
  // inputs { text: ff fe }, then a field cut short, then noise.
  for (const std::string& bytes :
       {std::string("\x12\x04\x0a\x02\xff\xfe"), std::string("\x12\x7f\x0a"),
        std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")}) {
    const RawReply reply = CallUnary(*channel, method, bytes);
    EXPECT_EQ(reply.status.error_code(), grpc::INVALID_ARGUMENT);
    EXPECT_THAT(reply.status.error_message(),
                HasSubstr("not a valid attend.v1.GenerateRequest"));
  }
  EXPECT_EQ(
      CallUnary(*channel, "/attend.v1.Attend/Nothing", "").status.error_code(),
      grpc::UNIMPLEMENTED);
  EXPECT_TRUE(client_.Generate(Greedy({"Hello."})).ok());
}

TEST_F(ErrorsTest, RequestIdsComeBack) {
  const auto channel = RawChannel(SharedServer().address());
  const auto id_for = [&](const std::string& wanted) {
    grpc::ClientContext context;
    if (!wanted.empty()) context.AddMetadata("x-request-id", wanted);
    const RawReply reply = CallUnary(*channel, "/attend.v1.Attend/ListModels",
                                     "", std::move(context));
    EXPECT_TRUE(reply.status.ok());
    const auto found = reply.initial_metadata.find("x-request-id");
    return found == reply.initial_metadata.end() ? "" : found->second;
  };
  EXPECT_EQ(id_for("order-42"), "order-42");
  EXPECT_NE(id_for(""), "");
  EXPECT_NE(id_for("with \"quotes\""), "with \"quotes\"");
}

}  // namespace
}  // namespace attend
