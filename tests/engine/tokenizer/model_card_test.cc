#include "engine/tokenizer/spm/model_card.h"

#include <gmock/gmock.h>

#include <string>

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ModelCardTest, MetadataNameLanguages) {
  EXPECT_THAT(
      ParseModelCard("---\nlanguage: \n- it\n- \"fr\"\n- roa\n- en\n\n"
                     "tags:\n- translation\n\nlicense: apache-2.0\n---\n- xx\n")
          .languages,
      ElementsAre("it", "fr", "roa", "en"));
  EXPECT_THAT(
      ParseModelCard("---\r\nlanguage: [en, 'de']\r\n---\r\n").languages,
      ElementsAre("en", "de"));
  EXPECT_THAT(ParseModelCard("---\nlanguage: en\ntags:\n- de\n---").languages,
              ElementsAre("en"));
  EXPECT_THAT(ParseModelCard("# A model\n---\nlanguage: en\n---").languages,
              IsEmpty());
  EXPECT_THAT(ParseModelCard("---\n  language: en\n").languages, IsEmpty());
}

// As converters of OPUS-MT write them.
TEST(ModelCardTest, TheTextNamesSourcesAndTargets) {
  const ModelCard old = ParseModelCard(
      "---\ntags:\n- translation\n---\n\n### opus-mt-en-de\n\n"
      "* source languages: en\n* target languages: de\n");
  EXPECT_THAT(old.sources, ElementsAre("en"));
  EXPECT_THAT(old.targets, ElementsAre("de"));
  const ModelCard group = ParseModelCard(
      "### roa-eng\n\n* source group: Romance languages \n"
      "* source language(s): arg ast lat_Latn\n* target language(s): eng\n"
      "- src_constituents: {'arg', 'zlm_Latn'}\n"
      "- tgt_constituents: ('English', {'eng'})\n");
  EXPECT_THAT(group.sources, ElementsAre("arg", "ast", "lat_Latn", "zlm_Latn"));
  EXPECT_THAT(group.targets, ElementsAre("eng"));
}

TEST(ModelCardTest, OddCardsAreRead) {
  EXPECT_THAT(ParseModelCard("").languages, IsEmpty());
  EXPECT_THAT(ParseModelCard("---").languages, IsEmpty());
  std::string list = "---\nlanguage: [";
  for (int i = 0; i < 5000; ++i) list += "l" + std::to_string(i) + ",";
  EXPECT_EQ(ParseModelCard(list).languages.size(), 1000u);
  EXPECT_THAT(
      ParseModelCard("---\nlanguage: " + std::string(1 << 20, 'a')).languages,
      IsEmpty());
  EXPECT_THAT(LoadModelCard("/nowhere").languages, IsEmpty());
}

}  // namespace
}  // namespace attend
