// What the server answers is what the model says: golden translations, and
// streams that put together are the unary answers.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

constexpr int kSample = kSanitized ? 10 : 40;

struct Golden {
  std::vector<nlohmann::json> sentences;  // with a clear margin
};

// `mode` is a key of the golden file. From all over it, so that all kinds are
// among them; not those without a token, which a server answers with nothing.
Golden ReadSample(const std::string& mode) {
  std::ifstream file(ATTEND_SOURCE_DIR "/tests/golden/en-de/expected.json");
  const auto json = nlohmann::json::parse(file);
  const std::set<int> low = json["low_margin"][mode];
  Golden golden;
  for (int i = 0; i < kSample; ++i) {
    const int index = i * 200 / kSample;
    const auto& sentence = json["sentences"][index];
    if (low.count(index) == 0 && sentence["ids"].size() > 1) {
      golden.sentences.push_back(sentence);
    }
  }
  return golden;
}

v1::GenerateRequest RequestOf(const Golden& golden, int beams) {
  v1::GenerateRequest request;
  for (const auto& sentence : golden.sentences) {
    request.add_inputs()->set_text(sentence["text"].get<std::string>());
  }
  request.mutable_params()->set_num_beams(beams);
  request.mutable_params()->set_max_new_tokens(128);
  return request;
}

void ExpectGolden(const absl::StatusOr<v1::GenerateResponse>& response,
                  const Golden& golden, const std::string& mode) {
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->results_size(), golden.sentences.size());
  for (int i = 0; i < response->results_size(); ++i) {
    const auto& sentence = golden.sentences[i];
    SCOPED_TRACE(sentence["text"]);
    const v1::GenerateResult& result = response->results(i);
    ASSERT_EQ(result.choices_size(), 1) << result.ShortDebugString();
    const v1::Choice& choice = result.choices(0);
    EXPECT_EQ(std::vector<int>(choice.ids().begin(), choice.ids().end()),
              sentence[mode]["ids"].get<std::vector<int>>());
    EXPECT_EQ(choice.text(), sentence[mode]["text"].get<std::string>());
    EXPECT_EQ(choice.finish_reason(), v1::FINISH_REASON_EOS);
    EXPECT_EQ(result.usage().source_tokens(), sentence["ids"].size());
    EXPECT_EQ(result.usage().generated_tokens(), choice.ids_size());
  }
}

class GoldenTest
    : public ::testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(GoldenTest, GenerateAndStreamAnswerAsTransformersDoes) {
  const auto& [mode, beams] = GetParam();
  const Golden golden = ReadSample(mode);
  ASSERT_GT(golden.sentences.size(), kSample / 2);
  const v1::GenerateRequest request = RequestOf(golden, beams);
  Client client(SharedServer().client_options());
  ExpectGolden(client.Generate(request), golden, mode);
  ExpectGolden(Collect(client, request), golden, mode);
}

INSTANTIATE_TEST_SUITE_P(Modes, GoldenTest,
                         ::testing::Values(std::pair("greedy", 1),
                                           std::pair("beam4", 4)),
                         [](const auto& mode) {
                           return std::string(mode.param.first);
                         });

struct StreamCase {
  const char* name;
  void (*change)(v1::GenerationParams&);
};

const StreamCase kStreamCases[] = {
    {"Greedy", [](v1::GenerationParams&) {}},
    {"GreedyLogProbs",
     [](v1::GenerationParams& params) {
       params.set_log_probs(true);
       params.set_top_log_probs(5);
     }},
    {"Sampled",
     [](v1::GenerationParams& params) {
       params.set_do_sample(true);
       params.set_seed(7);
       params.set_num_return_sequences(3);
       params.set_log_probs(true);
     }},
    {"Beams",
     [](v1::GenerationParams& params) {
       params.set_num_beams(4);
       params.set_num_return_sequences(4);
       params.set_log_probs(true);
       params.set_top_log_probs(2);
     }},
    {"StopStrings",
     [](v1::GenerationParams& params) {
       for (const char* stop : {"e ", "Stra", "un", "."}) {
         params.add_stop_strings(stop);
       }
     }},
    {"BeamsAndStopStrings",
     [](v1::GenerationParams& params) {
       params.set_num_beams(4);
       params.set_num_return_sequences(2);
       params.add_stop_strings(" und");
     }},
    {"ForcedPrefix",
     [](v1::GenerationParams& params) { params.set_prefix_text("Zwei"); }},
    {"CutShort",
     [](v1::GenerationParams& params) { params.set_max_new_tokens(3); }},
};

class StreamTest : public ::testing::TestWithParam<StreamCase> {};

TEST_P(StreamTest, ChunksPutTogetherAreTheUnaryAnswer) {
  v1::GenerateRequest request =
      Greedy({Sentence(0), "", Sentence(1), "Ünïcödé 漢字 🙂 ☃!",
              Sentence(4)});
  GetParam().change(*request.mutable_params());
  Client client(SharedServer().client_options());
  const auto whole = client.Generate(request);
  const auto pieces = Collect(client, request);
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  EXPECT_EQ(Bits(*whole), Bits(*pieces))
      << whole->DebugString() << "\n--- stream\n"
      << pieces->DebugString();
}

INSTANTIATE_TEST_SUITE_P(Params, StreamTest, ::testing::ValuesIn(kStreamCases),
                         [](const auto& c) { return c.param.name; });

TEST(TranslationTest, StopStringEndsTheTextBeforeIt) {
  v1::GenerateRequest request = Greedy({Sentence(0)});
  Client client(SharedServer().client_options());
  const std::string text = Only(client.Generate(request)).choices(0).text();
  const std::string stop = text.substr(text.size() / 2, 3);
  request.mutable_params()->add_stop_strings(stop);
  const v1::Choice choice = Only(client.Generate(request)).choices(0);
  EXPECT_EQ(choice.text(), text.substr(0, text.find(stop)));
  EXPECT_EQ(choice.finish_reason(), v1::FINISH_REASON_STOP_SEQUENCE);
}

TEST(TranslationTest, ScoresAreTheLogProbsOfWhatWasGenerated) {
  v1::GenerateRequest request = Greedy({Sentence(4)});
  request.mutable_params()->set_log_probs(true);
  Client client(SharedServer().client_options());
  const v1::Choice choice = Only(client.Generate(request)).choices(0);
  v1::ScoreRequest score;
  v1::ScorePair& pair = *score.add_pairs();
  pair.mutable_source()->set_text(Sentence(4));
  *pair.mutable_target()->mutable_tokens()->mutable_ids() = choice.ids();
  const auto response = client.Score(score);
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->results(0).tokens_size(), choice.ids_size());
  for (int i = 0; i < choice.ids_size(); ++i) {
    EXPECT_EQ(response->results(0).tokens(i).token().log_prob(),
              choice.log_probs(i).token().log_prob())
        << i;
  }
}

TEST(TranslationTest, TokenizeAndDetokenizeGoThereAndBack) {
  Client client(SharedServer().client_options());
  v1::TokenizeRequest tokenize;
  tokenize.add_texts(Sentence(2));
  const auto tokens = client.Tokenize(tokenize);
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  v1::DetokenizeRequest detokenize;
  *detokenize.add_sequences()->mutable_ids() = tokens->results(0).ids();
  const auto text = client.Detokenize(detokenize);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->results(0).text(), Sentence(2));
}

}  // namespace
}  // namespace attend
