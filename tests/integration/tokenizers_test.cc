// Text for models whose directories have SentencePiece's files and no
// tokenizer.json.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/spm_bytes.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr int kNormal = 1, kUnknown = 2, kControl = 3;
constexpr char kMark[] = "\xe2\x96\x81";

// The mark of a space, then letters: as many as the checkpoints' 67 ids leave.
std::vector<std::string> Letters() {
  std::vector<std::string> letters = {kMark};
  for (const char first : {'a', 'A'}) {
    for (int i = 0; i < 26; ++i) letters.emplace_back(1, first + i);
  }
  return letters;
}

std::string Pieces() {
  std::string bytes;
  for (const std::string& letter : Letters()) {
    bytes += SpmPiece(letter, kNormal, -1);
  }
  return bytes;
}

// Golden checkpoints, and tokenizers beside them that have no more ids.
class TokenizersTest : public ::testing::Test {
 protected:
  TokenizersTest() {
    std::string name = ::testing::TempDir() + "attend_XXXXXX";
    directory_ = mkdtemp(name.data());
    Add("t5-few-buckets", "spiece.model",
        SpmPiece("<pad>", kControl) + SpmPiece("</s>", kControl) +
            SpmPiece("<unk>", kUnknown) + Pieces());
    Write("t5-few-buckets/tokenizer_config.json", R"({"extra_ids": 11})");
    Add("m2m_100-gelu", "sentencepiece.bpe.model",
        SpmPiece("<unk>", kUnknown) + SpmPiece("<s>", kControl) +
            SpmPiece("</s>", kControl) + Pieces() +
            SpmField(2, "\x18\x02"));  // byte pairs
    nlohmann::json ids = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}};
    for (const std::string& letter : Letters()) ids[letter] = ids.size();
    Write("m2m_100-gelu/vocab.json", ids.dump());
    Write("m2m_100-gelu/tokenizer_config.json",
          R"({"language_codes": "wmt21"})");
  }
  ~TokenizersTest() override { fs::remove_all(directory_); }

  void Add(const std::string& model, const std::string& file,
           const std::string& contents) {
    fs::create_directory(directory_ / model);
    const fs::path golden = ATTEND_SOURCE_DIR "/tests/golden/families/" + model;
    for (const fs::directory_entry& entry : fs::directory_iterator(golden)) {
      fs::create_symlink(entry.path(),
                         directory_ / model / entry.path().filename());
    }
    Write(model + "/" + file, contents);
  }
  void Write(const std::string& file, const std::string& contents) {
    std::ofstream(directory_ / file, std::ios::binary) << contents;
  }

  fs::path directory_;
};

v1::GenerateRequest Asking(const std::string& model, const std::string& text) {
  v1::GenerateRequest request = Greedy({text});
  request.set_model(model);
  request.mutable_params()->set_max_new_tokens(9);
  return request;
}

std::vector<int> Ids(const v1::Choice& choice) {
  return {choice.ids().begin(), choice.ids().end()};
}

// Text gives what its ids give, and the answer's text is that of its ids.
void ExpectTextIsIds(Client& client, const v1::GenerateRequest& request,
                     const std::vector<int>& source) {
  const v1::Choice choice = Only(client.Generate(request)).choices(0);
  v1::GenerateRequest by_ids = request;
  auto& ids = *by_ids.mutable_inputs(0)->mutable_tokens()->mutable_ids();
  ids.Assign(source.begin(), source.end());
  EXPECT_EQ(Ids(choice), Ids(Only(client.Generate(by_ids)).choices(0)));

  v1::DetokenizeRequest detokenize;
  detokenize.set_model(request.model());
  *detokenize.add_sequences()->mutable_ids() = choice.ids();
  const auto text = client.Detokenize(detokenize);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(choice.text(), text->results(0).text());
}

TEST_F(TokenizersTest, SentencePieceFilesServeText) {
  ServerProcess server({"--models-dir=" + directory_.string()});
  Client client(server.client_options());
  ExpectTextIsIds(client, Asking("t5-few-buckets", "a Cat"),
                  {3, 4, 3, 32, 4, 23, 1});

  // en ha is ja cs ru zh de have the ids from 57 on; the source begins with its
  // language, the target is forced to.
  v1::GenerateRequest request = Asking("m2m_100-gelu", "a Cat");
  ExpectTextIsIds(client, request, {57, 4, 5, 4, 33, 5, 24, 2});
  request.set_source_language("de");
  request.set_target_language("cs");
  ExpectTextIsIds(client, request, {64, 4, 5, 4, 33, 5, 24, 2});
  EXPECT_EQ(Only(client.Generate(request)).choices(0).ids(0), 61);
  request.set_target_language("fr");
  const absl::Status status = client.Generate(request).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

// Tokens of images, say, that a tokenizer has and the weights have not: where
// they come up, it is an error of that request.
TEST_F(TokenizersTest, TokensBeyondTheVocabularyAreErrorsOfRequests) {
  Write("t5-few-buckets/tokenizer_config.json", R"({"extra_ids": 13})");
  ServerProcess server({"--model=" + (directory_ / "t5-few-buckets").string()});
  Client client(server.client_options());
  ExpectTextIsIds(client, Asking("", "a Cat<extra_id_2>"),
                  {3, 4, 3, 32, 4, 23, 66, 1});
  v1::GenerateRequest by_text = Asking("", "a Cat<extra_id_0>");
  v1::GenerateRequest by_id = Asking("", "");
  by_id.mutable_inputs(0)->mutable_tokens()->add_ids(68);
  v1::GenerateRequest prefix = Asking("", "a Cat");
  prefix.mutable_params()->set_prefix_text("<extra_id_0>");
  for (const v1::GenerateRequest& request : {by_text, by_id, prefix}) {
    const absl::Status status = client.Generate(request).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_NE(status.message().find("68"), absl::string_view::npos) << status;
  }
}

// Its vocabulary has the tokens >>deu<<, >>fra<< and >>zlm_Latn<<.
TEST(LanguageTokensTest, TextsBeginWithTheTokenOfTheTargetLanguage) {
  ServerProcess server(
      {"--model=" ATTEND_SOURCE_DIR "/tests/golden/marian/language-tokens"});
  Client client(server.client_options());
  const auto ids = [&](const std::string& text, const std::string& target) {
    v1::GenerateRequest request = Asking("", text);
    request.set_target_language(target);
    return Ids(Only(client.Generate(request)).choices(0));
  };
  const std::vector<int> french = ids(">>fra<< a small dog", "");
  EXPECT_EQ(ids("a small dog", "fr"), french);
  EXPECT_NE(ids("a small dog", ""), french);
  EXPECT_TRUE(ids("", "fr").empty());

  v1::GenerateRequest by_ids = Asking("", "");
  by_ids.mutable_inputs(0)->mutable_tokens()->add_ids(9);
  by_ids.set_target_language("fr");
  EXPECT_TRUE(absl::IsInvalidArgument(client.Generate(by_ids).status()));

  v1::ScoreRequest score;
  score.add_pairs()->mutable_source()->set_text(">>fra<< a small dog");
  auto& target = *score.mutable_pairs(0)->mutable_target();
  target.mutable_tokens()->mutable_ids()->Add(french.begin(), french.end());
  const auto marked = client.Score(score);
  ASSERT_TRUE(marked.ok()) << marked.status();
  score.mutable_pairs(0)->mutable_source()->set_text("a small dog");
  score.set_target_language("fra");
  const auto told = client.Score(score);
  ASSERT_TRUE(told.ok()) << told.status();
  EXPECT_EQ(told->results(0).log_prob(), marked->results(0).log_prob());

  v1::TranslateRequest translate;
  translate.add_documents("a small dog");
  translate.mutable_params()->set_max_new_tokens(9);
  translate.mutable_params()->set_num_beams(1);
  EXPECT_EQ(client.Translate(translate).status().message(),
            "target_language is empty, but the model translates to deu, fra, "
            "zlm_Latn");
  translate.set_target_language("fr");
  const auto translated = client.Translate(translate);
  ASSERT_TRUE(translated.ok()) << translated.status();
  const v1::Choice& choice = translated->results(0).sentences(0).choice();
  EXPECT_EQ(Ids(choice), french);
}

}  // namespace
}  // namespace attend
