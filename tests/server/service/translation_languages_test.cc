#include "server/service/translation_languages.h"

#include <gmock/gmock.h>

namespace attend {
namespace {

// A tokenizer that has languages, or only says which.
class Named final : public Tokenizer {
 public:
  Named(std::vector<std::string> source, std::vector<std::string> target,
        int first_id, std::string token)
      : source_(std::move(source)),
        target_(std::move(target)),
        first_id_(first_id),
        token_(std::move(token)) {}

  absl::StatusOr<Encoding> Encode(const EncodeInput&) const override {
    return Encoding();
  }
  absl::StatusOr<std::string> Decode(absl::Span<const int>, Side,
                                     bool) const override {
    return "";
  }
  int vocab_size(Side) const override { return 1; }
  absl::string_view Piece(int, Side) const override { return ""; }
  int TokenId(absl::string_view piece, Side) const override {
    return piece == token_ ? 5 : -1;
  }
  bool IsSpecial(int, Side) const override { return false; }
  absl::string_view TokenText(int) const override { return ""; }
  std::vector<std::string> languages(Side side) const override {
    return side == Side::kSource ? source_ : target_;
  }
  absl::StatusOr<int> LanguageId(absl::string_view language) const override {
    if (first_id_ < 0 || language.empty()) {
      return Tokenizer::LanguageId(language);
    }
    return first_id_;
  }

 private:
  const std::vector<std::string> source_, target_;
  const int first_id_;
  const std::string token_;
};

TEST(TranslationLanguagesTest, AMultilingualModelIsToldBoth) {
  const std::vector<std::string> codes = {"deu_Latn", "eng_Latn"};
  const auto chosen =
      ChooseLanguages("en", "deu_Latn", Named(codes, codes, 7, ""));
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->of_documents, "eng_Latn");
  EXPECT_EQ(chosen->source, "eng_Latn");
  EXPECT_EQ(chosen->target, "deu_Latn");
  EXPECT_EQ(chosen->prefix, "");
}

TEST(TranslationLanguagesTest, AModelOfOnePairIsToldNothing) {
  const Named pair({"en"}, {"de"}, -1, "");
  for (const char* source : {"", "en", "eng"}) {
    const auto chosen = ChooseLanguages(source, "de", pair);
    ASSERT_TRUE(chosen.ok()) << chosen.status();
    EXPECT_EQ(chosen->of_documents, "en");
    EXPECT_EQ(chosen->source, "");
    EXPECT_EQ(chosen->target, "");
  }
  EXPECT_EQ(
      ChooseLanguages("fr", "de", pair).status(),
      absl::InvalidArgumentError("source_language is 'fr', the model has en"));
  EXPECT_EQ(
      ChooseLanguages("en", "fr", pair).status(),
      absl::InvalidArgumentError("target_language is 'fr', the model has de"));
}

TEST(TranslationLanguagesTest, AMarianModelOfSeveralTargetsGetsAToken) {
  const auto chosen =
      ChooseLanguages("", "fr", Named({"en"}, {"deu", "fra"}, -1, ">>fra<<"));
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->prefix, ">>fra<< ");
}

TEST(TranslationLanguagesTest, AGroupOfTargetsHasItsMembers) {
  const Named group({"en"}, {"fra", "por_BR", "spa"}, -1, ">>por_BR<<");
  const auto chosen = ChooseLanguages("eng", "pt-BR", group);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->prefix, ">>por_BR<< ");
  EXPECT_EQ(ChooseLanguages("", "de", group).status(),
            absl::InvalidArgumentError(
                "target_language is 'de', the model has fra, por_BR, spa"));
}

TEST(TranslationLanguagesTest, AGroupOfSourcesHasItsMembers) {
  const Named group({"roa"}, {"en"}, -1, "");
  const auto chosen = ChooseLanguages("fr", "en", group);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->of_documents, "fr");
  EXPECT_EQ(
      ChooseLanguages("de", "en", group).status(),
      absl::InvalidArgumentError("source_language is 'de', the model has roa"));
}

// Sentences end as in the language of the documents, but nobody knows which one
// the translations have.
TEST(TranslationLanguagesTest, FilesThatNameNoneTakeNoTarget) {
  const Named unnamed({}, {}, -1, "");
  const auto chosen = ChooseLanguages("fr", "", unnamed);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->of_documents, "fr");
  EXPECT_EQ(ChooseLanguages("en", "fr", unnamed).status(),
            absl::InvalidArgumentError(
                "target_language is 'fr', must be empty: the model's files "
                "name no languages (tokenizer_config.json may: source_lang, "
                "target_lang)"));
}

TEST(TranslationLanguagesTest, OnlyAMarianModelOfSeveralTargetsNeedsOne) {
  EXPECT_TRUE(
      NeedsTargetLanguage(Named({"en"}, {"deu", "fra"}, -1, ">>deu<<")));
  EXPECT_FALSE(NeedsTargetLanguage(Named({"en"}, {"deu"}, -1, ">>deu<<")));
  EXPECT_FALSE(NeedsTargetLanguage(Named({"aa", "bb"}, {"aa", "bb"}, 7, "")));
}

// Where texts are not cut into sentences, a language of the source says nothing
// if the model has none.
TEST(TranslationLanguagesTest, ATextOfAModelWithoutLanguagesHasNone) {
  const Named unnamed({}, {}, -1, "");
  EXPECT_TRUE(ReadLanguages("", "", unnamed).ok());
  EXPECT_EQ(ReadLanguages("en", "", unnamed).status(),
            absl::InvalidArgumentError(
                "source_language: language is \"en\", but the model's "
                "tokenizer has no languages"));
}

}  // namespace
}  // namespace attend
