#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/tokenizer/load_tokenizer.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kModel[] = ATTEND_SOURCE_DIR "/models/en-de";
constexpr char kGolden[] = ATTEND_SOURCE_DIR "/tests/golden";

const Tokenizer& Bundled() {
  static const auto* tokenizer = [] {
    auto loaded = LoadTokenizer(kModel);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded->release();
  }();
  return *tokenizer;
}

nlohmann::json Expected(const std::string& directory) {
  nlohmann::json expected;
  std::ifstream(directory + "/expected.json") >> expected;
  return expected;
}

std::string Streamed(const Tokenizer& tokenizer, const std::vector<int>& ids) {
  const std::unique_ptr<StreamDecoder> stream = tokenizer.NewStream({});
  std::string text;
  for (const int id : ids) {
    text += stream->Append(id);
  }
  return text + stream->Flush();
}

std::vector<int> Ids(const Tokenizer& tokenizer, absl::string_view text,
                     Side side = Side::kSource, bool add_special = true) {
  const auto encoding = tokenizer.Encode(
      {.text = text, .side = side, .add_special = add_special});
  EXPECT_TRUE(encoding.ok()) << encoding.status();
  return encoding->ids;
}

TEST(TokenizerTest, GoldenSentencesOfTheBundledModel) {
  const nlohmann::json expected = Expected(std::string(kGolden) + "/en-de");
  ASSERT_EQ(expected["sentences"].size(), 200u);
  for (const nlohmann::json& e : expected["sentences"]) {
    const std::string text = e["text"];
    const std::vector<int> ids = e["ids"];
    EXPECT_EQ(Ids(Bundled(), text), ids) << text;
    const std::string decoded = e["decoded"];
    const std::string decoded_special = e["decoded_special"];
    EXPECT_EQ(*Bundled().Decode(ids, Side::kTarget, false), decoded);
    EXPECT_EQ(*Bundled().Decode(ids, Side::kTarget, true), decoded_special);
    EXPECT_EQ(Streamed(Bundled(), ids), decoded);
    const std::vector<int> target = e["greedy"]["ids"];
    const std::string target_text = e["greedy"]["text"];
    EXPECT_EQ(Streamed(Bundled(), target), target_text);
  }
}

// Every directory of golden data: odd texts, both sides, separate vocabularies.
TEST(TokenizerTest, GoldenTextsOfEveryFixture) {
  int fixtures = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(kGolden) + "/marian")) {
    const std::string directory = entry.path();
    if (!std::filesystem::exists(directory + "/source.spm") ||
        !std::filesystem::exists(directory + "/expected.json")) {
      continue;
    }
    const auto tokenizer = LoadTokenizer(directory);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    const nlohmann::json expected = Expected(directory);
    if (!expected.contains("text")) continue;
    ++fixtures;
    for (const nlohmann::json& e : expected["text"]) {
      const std::string text = e["text"];
      const std::vector<int> ids = e["ids"];
      const Side side = e["side"] == "source" ? Side::kSource : Side::kTarget;
      EXPECT_EQ(Ids(**tokenizer, text, side), ids) << directory << ": " << text;
      // The reference decodes as target text, whatever the ids are of.
      if (side == Side::kSource &&
          std::filesystem::exists(directory + "/target_vocab.json")) {
        continue;
      }
      const std::string decoded = e["decoded"];
      const std::string decoded_special = e["decoded_special"];
      EXPECT_EQ(*(*tokenizer)->Decode(ids, side, false), decoded);
      EXPECT_EQ(*(*tokenizer)->Decode(ids, side, true), decoded_special);
    }
  }
  EXPECT_GT(fixtures, 0);
}

// Expectations from transformers 5.23's MarianTokenizer on the same directory.
TEST(TokenizerTest, OddTexts) {
  const auto encode = [](absl::string_view text) {
    return Ids(Bundled(), text);
  };
  EXPECT_THAT(encode(""), ElementsAre(0));
  EXPECT_THAT(encode(" \n"), ElementsAre(0));
  EXPECT_THAT(encode(">>deu<< Hello"), ElementsAre(1, 7016, 0));
  EXPECT_THAT(encode("  >>x<< a"), ElementsAre(42, 1, 1034, 1, 3, 0));
  EXPECT_THAT(encode("a</s>b <unk> <pad> x"),
              ElementsAre(3, 0, 976, 1, 8000, 42, 1034, 0));
  EXPECT_THAT(encode("</s>>>deu<<x"), ElementsAre(0, 1, 42, 1034, 0));
  EXPECT_THAT(encode(absl::string_view("a\0b\x01"
                                       "c\td\n",
                                       8)),
              ElementsAre(3, 1, 189, 317, 1562, 0));
  EXPECT_THAT(encode("\xef\xac\x81"), ElementsAre(522, 255, 0));  // fi ligature
  EXPECT_THAT(encode("\xef\xbf\xbd"), ElementsAre(0));
  EXPECT_THAT(Ids(Bundled(), "Hallo Welt", Side::kTarget, false),
              ElementsAre(3950, 4925));
  EXPECT_EQ(*Bundled().Decode({3, 1, 3, 8000, 2, 0}, Side::kTarget, true),
            "a<unk> a<pad> .</s>");
}

// As SentencePiece, and not as Hugging Face's library would: of equal sums its
// f64 take "o oo" and "d dd", and it drops what it joins to a replaced
// character.
TEST(TokenizerTest, TiesAndCombiningCharacters) {
  EXPECT_THAT(Ids(Bundled(), "aleuooo", Side::kSource, false),
              ElementsAre(3, 263, 174, 1377, 304));
  EXPECT_THAT(Ids(Bundled(), "slloitdddhn", Side::kSource, false),
              ElementsAre(1831, 638, 366, 2181, 67, 140, 17));
  EXPECT_THAT(Ids(Bundled(), "x\xc2\xbd\xcc\x81y", Side::kSource, false),
              ElementsAre(42, 1034, 3944, 1, 3239, 1, 127));
  EXPECT_THAT(Ids(Bundled(), "\xef\xac\x81\xcc\x81n", Side::kSource, false),
              ElementsAre(522, 255, 1, 17));
}

// Offsets as SentencePieceProcessor::Encode(_, SentencePieceText*) has them.
TEST(TokenizerTest, OriginsAreBytesOfTheText) {
  const std::string text = "  \xef\xac\x81t  x</s>\xf0\x9f\x90\x95 y ";
  const auto encoding = Bundled().Encode({.text = text});
  ASSERT_TRUE(encoding.ok());
  std::vector<std::string> covered;
  for (size_t i = 0; i < encoding->ids.size(); ++i) {
    const TokenOrigin& origin = encoding->origins[i];
    EXPECT_EQ(encoding->types[i], 0);
    EXPECT_EQ(origin.text, i + 1 < encoding->ids.size() ? 0 : -1);
    covered.push_back(text.substr(origin.begin, origin.end - origin.begin));
  }
  EXPECT_THAT(covered, ElementsAre("\xef\xac\x81t", "  ", "x", "</s>", "",
                                   "\xf0\x9f\x90\x95", " ", "y", ""));
}

TEST(TokenizerTest, TruncationKeepsTheEndOfSequence) {
  const auto whole = Ids(Bundled(), "A young man sleeps.");
  for (int max = 1; max <= static_cast<int>(whole.size()) + 1; ++max) {
    const auto cut =
        Bundled().Encode({.text = "A young man sleeps.", .max_tokens = max});
    auto expected = whole;
    if (max < static_cast<int>(whole.size())) {
      expected.resize(max);
      expected.back() = whole.back();
    }
    EXPECT_EQ(cut->ids, expected);
    EXPECT_EQ(cut->truncated, max < static_cast<int>(whole.size()));
  }
}

TEST(TokenizerTest, APairIsOneTextAfterTheOther) {
  const auto pair = Bundled().Encode({.text = "Hello", .pair = "Hello"});
  EXPECT_THAT(pair->ids, ElementsAre(7016, 7016, 0));
  EXPECT_EQ(pair->origins[1].text, 1);
  EXPECT_THAT(
      Bundled().Encode({.text = "a", .pair = "b\xff"}).status().message(),
      HasSubstr("pair is not UTF-8 at byte 1"));
}

TEST(TokenizerTest, MarianHasNoLanguageCodes) {
  EXPECT_THAT(
      Bundled().Encode({.text = "a", .language = "de"}).status().message(),
      HasSubstr("language is \"de\""));
  EXPECT_FALSE(Bundled().LanguageId("de").ok());
}

// Of directories like the hub's: a source group whose card names its members,
// and several targets that have tokens.
TEST(TokenizerTest, MarianLanguagesAreThoseOfTheFiles) {
  namespace fs = std::filesystem;
  const fs::path directory =
      fs::path(testing::TempDir()) / "marian_languages_test";
  const auto languages = [&](const char* config, const char* card,
                             const char* token) {
    fs::remove_all(directory);
    fs::create_directory(directory);
    for (const char* file : {"source.spm", "target.spm", "config.json"}) {
      fs::copy(std::string(kModel) + "/" + file, directory / file);
    }
    std::ifstream in(std::string(kModel) + "/vocab.json");
    nlohmann::json vocabulary = nlohmann::json::parse(in);
    if (token != nullptr) vocabulary[token] = vocabulary.size();
    std::ofstream(directory / "vocab.json") << vocabulary;
    std::ofstream(directory / "tokenizer_config.json") << config;
    if (card != nullptr) std::ofstream(directory / "README.md") << card;
    const auto tokenizer = LoadTokenizer(directory);
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
    return std::pair((*tokenizer)->languages(Side::kSource),
                     (*tokenizer)->languages(Side::kTarget));
  };
  using Lists = std::pair<std::vector<std::string>, std::vector<std::string>>;
  EXPECT_EQ(languages("{}", nullptr, nullptr), Lists());
  constexpr char kGroup[] = R"({"source_lang": "roa", "target_lang": "en"})";
  EXPECT_EQ(languages(kGroup, nullptr, nullptr), Lists({"roa"}, {"en"}));
  constexpr char kCard[] = "---\nlanguage:\n- it\n- fr\n- roa\n- en\n---\n";
  EXPECT_EQ(languages(kGroup, kCard, nullptr),
            Lists({"roa", "it", "fr"}, {"en"}));
  EXPECT_EQ(languages(R"({"source_lang": "en", "target_lang": "roa"})", kCard,
                      ">>fra<<"),
            Lists({"en"}, {"fra"}));
  EXPECT_EQ(languages("{}", "* source languages: en\n* target languages: de\n",
                      nullptr),
            Lists({"en"}, {"de"}));
  fs::remove_all(directory);
}

TEST(TokenizerTest, IdsBeyondTheVocabularyHaveNoText) {
  EXPECT_EQ(Bundled().Piece(9000, Side::kTarget), "");
  EXPECT_EQ(Bundled().TokenText(9000), "");
  EXPECT_FALSE(Bundled().IsSpecial(9000, Side::kTarget));
}

TEST(TokenizerTest, InvalidUtf8IsNamedByItsByte) {
  const auto ids = Bundled().Encode({.text = "ab\xc3"});
  EXPECT_TRUE(absl::IsInvalidArgument(ids.status()));
  EXPECT_THAT(ids.status().message(), HasSubstr("byte 2"));
  for (const char* bad : {"\x80", "\xc0\x80", "\xed\xa0\x80",
                          "\xf5\x80\x80\x80", "\xe2\x96", "\xf0\x80\x80\x80"}) {
    EXPECT_FALSE(Bundled().Encode({.text = bad}).ok());
  }
}

TEST(TokenizerTest, IdsOutsideOfTheVocabulary) {
  EXPECT_EQ(Bundled().vocab_size(Side::kTarget), 8001);
  for (const int id : {-1, 8001, 1 << 30}) {
    EXPECT_THAT(Bundled().Decode({id}, Side::kTarget, false).status().message(),
                AllOf(HasSubstr(std::to_string(id)), HasSubstr("8001")));
  }
}

TEST(TokenizerTest, PiecesAndSpecialTokens) {
  EXPECT_EQ(Bundled().Piece(7016, Side::kSource), "\xe2\x96\x81Hello");
  EXPECT_EQ(Bundled().TokenText(7016), " Hello");
  for (const int id : {0, 1, 8000}) {
    EXPECT_TRUE(Bundled().IsSpecial(id, Side::kTarget)) << id;
    EXPECT_EQ(Bundled().TokenText(id), "");
  }
  EXPECT_FALSE(Bundled().IsSpecial(2, Side::kTarget));
  EXPECT_EQ(Bundled().TokenId("\xe2\x96\x81Hello", Side::kSource), 7016);
  EXPECT_EQ(Bundled().TokenId("no such piece", Side::kSource), -1);
}

TEST(StreamDecoderTest, JoinsToDecodeForAnyIds) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> ids(random() % 20);
    for (int& id : ids) {
      // The lone space mark, special tokens and punctuation come often.
      constexpr int kOften[] = {42, 0, 1, 8000, 2, 9};
      id = random() % 3 == 0 ? kOften[random() % 6] : random() % 8001;
    }
    ASSERT_EQ(Streamed(Bundled(), ids),
              *Bundled().Decode(ids, Side::kTarget, false))
        << testing::PrintToString(ids);
  }
}

// Tokens of single bytes, spaces and letters: what a byte fallback gives.
class ByteTokenizer : public Tokenizer {
 public:
  explicit ByteTokenizer(bool clean_up) : clean_up_(clean_up) {
    for (int i = 0; i < 256; ++i) texts_.push_back(std::string(1, char(i)));
  }
  absl::StatusOr<Encoding> Encode(const EncodeInput&) const override {
    return Encoding();
  }
  absl::StatusOr<std::string> Decode(absl::Span<const int>, Side,
                                     bool) const override {
    return "";
  }
  int vocab_size(Side) const override { return 256; }
  absl::string_view Piece(int id, Side) const override { return texts_[id]; }
  bool IsSpecial(int, Side) const override { return false; }
  absl::string_view TokenText(int id) const override { return texts_[id]; }
  int TokenId(absl::string_view, Side) const override { return -1; }
  bool cleans_up_spaces() const override { return clean_up_; }

 private:
  bool clean_up_;
  std::vector<std::string> texts_;
};

TEST(StreamDecoderTest, HoldsBytesUntilTheyAreACharacter) {
  const ByteTokenizer tokenizer(false);
  const auto stream = tokenizer.NewStream({});
  EXPECT_EQ(stream->Append(0xe2), "");
  EXPECT_EQ(stream->Append(0x82), "");
  EXPECT_EQ(stream->Append(0xac), "\xe2\x82\xac");
  EXPECT_EQ(stream->Append(0xe2), "");
  EXPECT_EQ(stream->Append('a'),
            "\xef\xbf\xbd"
            "a");
  EXPECT_EQ(stream->Append(0xff), "\xef\xbf\xbd");
  EXPECT_EQ(stream->Append(0xf0), "");
  EXPECT_EQ(stream->Append(0x9f), "");
  EXPECT_EQ(stream->Flush(), "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(StreamDecoderTest, DropsSpacesAtBothEnds) {
  const ByteTokenizer tokenizer(false);
  const auto stream = tokenizer.NewStream({});
  EXPECT_EQ(stream->Append(' '), "");
  EXPECT_EQ(stream->Append('a'), "a");
  EXPECT_EQ(stream->Append(' '), "");
  EXPECT_EQ(stream->Append('b'), " b");
  EXPECT_EQ(stream->Append(' '), "");
  EXPECT_EQ(stream->Flush(), "");
}

}  // namespace
}  // namespace attend
