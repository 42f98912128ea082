// Constraints, with the real server and a small model that continues text.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

namespace fs = std::filesystem;

constexpr char kSchema[] = R"({
  "type": "object",
  "properties": {
    "name": {"type": "string", "maxLength": 6},
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "tags": {"type": "array", "items": {"enum": ["a", "b", "\u00e4"]},
             "maxItems": 3},
    "next": {"anyOf": [{"type": "null"}, {"type": "boolean"}]}},
  "required": ["name", "age"], "additionalProperties": false})";

// tests/golden/evaluation, whose 48 positions are too few for texts.
class ConstraintServerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string name = ::testing::TempDir() + "attend_XXXXXX";
    directory_ = new fs::path(mkdtemp(name.data()));
    const fs::path golden = ATTEND_SOURCE_DIR "/tests/golden/evaluation";
    for (const fs::directory_entry& entry : fs::directory_iterator(golden)) {
      fs::copy(entry.path(), *directory_ / entry.path().filename());
    }
    std::ifstream file(golden / "config.json");
    Json config = Json::parse(file);
    config["max_position_embeddings"] = 600;
    std::ofstream(*directory_ / "config.json") << config;
    server_ = new ServerProcess(
        {"--model", directory_->string(), "--model", BundledModel()});
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(server_->Stop(), 0);
    delete server_;
    fs::remove_all(*directory_);
    delete directory_;
  }

  static v1::GenerateRequest Sampled(int choices) {
    v1::GenerateRequest request;
    request.add_inputs()->set_text("A man");
    v1::GenerationParams& params = *request.mutable_params();
    params.set_do_sample(true);
    params.set_top_k(0);
    params.set_seed(5);
    params.set_num_return_sequences(choices);
    params.set_max_new_tokens(400);
    return request;
  }
  static v1::GenerateResult Run(const v1::GenerateRequest& request) {
    return Only(Client(server_->client_options()).Generate(request));
  }
  static std::vector<v1::Choice> Choices(const v1::GenerateRequest& request) {
    const v1::GenerateResult result = Run(request);
    return {result.choices().begin(), result.choices().end()};
  }
  static absl::Status Error(const v1::GenerateRequest& request) {
    return Client(server_->client_options()).Generate(request).status();
  }

  static inline fs::path* directory_;
  static inline ServerProcess* server_;
};

// The model knows nothing of JSON: whatever it draws is valid all the same.
TEST_F(ConstraintServerTest, SamplesOfASchemaAreValid) {
  v1::GenerateRequest request = Sampled(16);
  request.mutable_params()->mutable_constraint()->set_json_schema(kSchema);
  std::set<std::string> different;
  for (const v1::Choice& choice : Choices(request)) {
    ASSERT_EQ(choice.finish_reason(), v1::FINISH_REASON_EOS) << choice.text();
    const Json value = Json::parse(choice.text());
    EXPECT_LE(value.at("name").get<std::string>().size(), 4 * 6u);
    EXPECT_GE(value.at("age").get<int>(), 0);
    EXPECT_LE(value.at("age").get<int>(), 120);
    for (const auto& [key, element] : value.items()) {
      EXPECT_TRUE(key == "name" || key == "age" || key == "tags" ||
                  key == "next");
      if (key == "tags") {
        EXPECT_LE(element.size(), 3u);
      }
      if (key == "next") {
        EXPECT_TRUE(element.is_null() || element.is_boolean());
      }
    }
    different.insert(choice.text());
  }
  EXPECT_GT(different.size(), 8u);
}

TEST_F(ConstraintServerTest, GreedyAndBeamsHoldARegularExpression) {
  const std::string expression = "[0-9]{4}-(0[1-9]|1[0-2]) (ä|ö|x){2,9}";
  const std::regex whole(expression);
  for (const int beams : {1, 4}) {
    v1::GenerateRequest request = Sampled(beams);
    v1::GenerationParams& params = *request.mutable_params();
    params.set_do_sample(false);
    params.set_num_beams(beams);
    params.mutable_constraint()->set_regex(expression);
    const v1::GenerateResult result = Run(request);
    ASSERT_EQ(result.choices_size(), beams);
    for (const v1::Choice& choice : result.choices()) {
      EXPECT_TRUE(std::regex_match(choice.text(), whole)) << choice.text();
      EXPECT_EQ(choice.finish_reason(), v1::FINISH_REASON_EOS);
    }
    params.set_max_new_tokens(3);
    EXPECT_EQ(Choices(request)[0].finish_reason(),
              v1::FINISH_REASON_MAX_LENGTH);
  }
}

TEST_F(ConstraintServerTest, ChoicesAndGrammars) {
  v1::GenerateRequest request = Sampled(8);
  v1::Constraint& constraint = *request.mutable_params()->mutable_constraint();
  constraint.mutable_choices()->add_texts("yes");
  constraint.mutable_choices()->add_texts("no \"\n ä");
  for (const v1::Choice& choice : Choices(request)) {
    EXPECT_TRUE(choice.text() == "yes" || choice.text() == "no \"\n ä");
  }
  constraint.set_lark("start: \"(\" start \")\" | \"ab\" | \"c\"");
  for (const v1::Choice& choice : Choices(request)) {
    const size_t deep = choice.text().find_first_not_of('(');
    const std::string inside = choice.text().substr(deep, 2);
    EXPECT_TRUE(choice.text() == std::string(deep, '(') +
                                     (inside == "ab" ? "ab" : "c") +
                                     std::string(deep, ')'))
        << choice.text();
  }
  constraint.mutable_json_object();
  request.mutable_params()->set_num_return_sequences(1);
  EXPECT_EQ(Choices(request)[0].text().front(), '{');
}

// SentencePiece, an encoder, and a text that begins with a space that it loses.
TEST_F(ConstraintServerTest, ATranslationModelHoldsAConstraint) {
  for (const int beams : {1, 4}) {
    v1::GenerateRequest request = Greedy({"A dog runs."});
    request.set_model(kModelName);
    request.mutable_params()->set_num_beams(beams);
    request.mutable_params()->set_num_return_sequences(beams);
    request.mutable_params()->mutable_constraint()->set_regex(
        "(Hunde?|Katzen?) [a-z]{3,9} (im|am) [A-Z][a-zäöü]+[.!]");
    const v1::GenerateResult result = Run(request);
    for (const v1::Choice& choice : result.choices()) {
      EXPECT_TRUE(std::regex_match(
          choice.text(),
          std::regex("(Hunde?|Katzen?) [a-z]{3,9} (im|am) .+[.!]")))
          << choice.text();
    }
  }
}

TEST_F(ConstraintServerTest, AStreamIsTheSame) {
  v1::GenerateRequest request = Sampled(3);
  request.mutable_params()->mutable_constraint()->set_json_schema(kSchema);
  Client client(server_->client_options());
  const v1::GenerateResult whole = Run(request);
  const v1::GenerateResult parts = Only(Collect(client, request));
  ASSERT_EQ(parts.choices_size(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(parts.choices(i).DebugString(), whole.choices(i).DebugString());
  }
}

TEST_F(ConstraintServerTest, ErrorsNameTheField) {
  const auto message = [](auto set) {
    v1::GenerateRequest request = Sampled(1);
    set(*request.mutable_params()->mutable_constraint());
    const absl::Status status = Error(request);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(message([](v1::Constraint&) {}),
              HasSubstr("params.constraint is set, but has no constraint"));
  EXPECT_THAT(message([](v1::Constraint& c) { c.set_regex("(a"); }),
              HasSubstr("params.constraint.regex: "));
  EXPECT_THAT(message([](v1::Constraint& c) { c.set_json_schema("{"); }),
              HasSubstr("params.constraint.json_schema: "));
  EXPECT_THAT(message([](v1::Constraint& c) { c.set_lark("a: b"); }),
              HasSubstr("params.constraint.lark: "));
  EXPECT_THAT(message([](v1::Constraint& c) { c.mutable_choices(); }),
              HasSubstr("params.constraint.choices has 0 texts"));
  EXPECT_THAT(
      message([](v1::Constraint& c) { c.mutable_choices()->add_texts(""); }),
      HasSubstr("params.constraint.choices.texts[0] is empty"));
  EXPECT_THAT(
      message([](v1::Constraint& c) { c.set_regex(std::string(300000, 'a')); }),
      HasSubstr("params.constraint.regex: the grammar has 300000 "
                "bytes, limit is 262144"));
  EXPECT_THAT(message([](v1::Constraint& c) {
                c.set_json_schema(
                    R"({"type": "array", "items": {}, "minItems": 999999999})");
              }),
              HasSubstr("compiling takes more than 64 MiB of memory"));
}

}  // namespace
}  // namespace attend
