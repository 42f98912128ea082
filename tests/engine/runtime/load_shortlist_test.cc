#include "engine/runtime/load_shortlist.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/tokenizer/load_tokenizer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/checkpoint/files.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Its vocabulary, of source and target: </s> 0, <unk> 1, ▁ 2, s 3, e 4, l 5,
// t 6, r 7, u 8, the 9, ...
constexpr char kPlain[] = "marian/plain";
constexpr int kVocab = 90;

class LoadShortlistTest : public ::testing::Test {
 protected:
  LoadShortlistTest() {
    auto tokenizer = LoadTokenizer(GoldenDirectory(kPlain));
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
    tokenizer_ = *std::move(tokenizer);
  }

  absl::StatusOr<LoadedShortlist> Read(const std::string& bytes, int first = 0,
                                       int best = 100) {
    return LoadShortlist(
        {.path = directory_.Write("list", bytes), .first = first, .best = best},
        *tokenizer_, kVocab);
  }
  // The targets of a source.
  std::vector<int> Find(const absl::StatusOr<LoadedShortlist>& loaded,
                        const std::vector<int>& source) {
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded->shortlist->Find(source, {});
  }
  std::string Error(const std::string& bytes) {
    const absl::Status status = Read(bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  const TestDirectory directory_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(LoadShortlistTest, ReadsMappingsOfCTranslate2) {
  const auto loaded = Read(
      "\t</s> the\n"
      "s\te l \r\n"
      "s e\tt\n"
      "u\t\n"
      "never-seen\tr\n"
      "r\tnever-seen u");
  EXPECT_THAT(Find(loaded, {8}), ElementsAre(0, 9));
  EXPECT_THAT(Find(loaded, {3}), ElementsAre(0, 4, 5, 9));
  EXPECT_THAT(Find(loaded, {3, 4}), ElementsAre(0, 4, 5, 6, 9));
  EXPECT_THAT(Find(loaded, {7}), ElementsAre(0, 8, 9));
  EXPECT_EQ(loaded->counts.lines, 6);
  EXPECT_EQ(loaded->counts.unknown_tokens, 2);
}

TEST_F(LoadShortlistTest, AMappingMayBeOneForEverySource) {
  const auto loaded = Read("\ts e\n\te l\n");
  EXPECT_THAT(Find(loaded, {8}), ElementsAre(3, 4, 5));
}

TEST_F(LoadShortlistTest, ReadsLexiconsOfMarian) {
  const std::string lines =
      "e s 0.5\n"
      "l\ts\t1e-3\n"
      "t s 0.25\n"
      "u s 0\n"
      "NULL s 0.9\n"
      "the NULL 0.9\n"
      "the never-seen 0.9\n"
      "r t 0.1\n";
  // The source's own tokens are targets too: there is one vocabulary.
  EXPECT_THAT(Find(Read(lines), {3}), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(Find(Read(lines, 0, 2), {3}), ElementsAre(3, 4, 6));
  EXPECT_THAT(Find(Read(lines, 3, 1), {3, 6}),
              ElementsAre(0, 1, 2, 3, 4, 6, 7));
  EXPECT_THAT(Find(Read(lines), {9}), ElementsAre(9));
  EXPECT_EQ(Find(Read(lines, 1 << 20), {9}).size(), size_t{kVocab});
  EXPECT_EQ(Read(lines)->counts.unknown_tokens, 1);
  // The last probability of a pair counts.
  EXPECT_THAT(Find(Read("e s 0.9\nt s 0.5\ne s 0.1\n", 0, 1), {3}),
              ElementsAre(3, 6));
}

TEST_F(LoadShortlistTest, AnErrorNamesFileLineAndToken) {
  const std::string file = directory_.path() + "/list: ";
  EXPECT_EQ(Error("s\te\ns e\n"),
            file +
                "line 2 has 0 tabs, must have one, between source tokens and "
                "target tokens: 's e'");
  EXPECT_THAT(Error("s\te\ns\te\tl\n"), HasSubstr("line 2 has 2 tabs"));
  EXPECT_EQ(
      Error("s\te  l\n"),
      file + "line 1 has two spaces between tokens, must have one: 'e  l'");
  EXPECT_EQ(Error("s\te\n" + std::string("s s s s s s s s s s s s s s s s s") +
                  "\te\n"),
            file + "line 2 has 17 source tokens, must have at most 16");
  EXPECT_EQ(Error("e s 0.5\ne s\n"),
            file +
                "line 2 has 2 fields, must have 3: target token, source token, "
                "probability: 'e s'");
  for (const char* bad : {"x", "nan", "inf", "0.5x", "-0.5"}) {
    EXPECT_EQ(Error(absl::StrCat("e s 0.5\ne s ", bad, "\n")),
              absl::StrCat(file, "line 2 has the probability '", bad,
                           "', must be a number from 0 on"));
  }
  EXPECT_EQ(Error("\x1f\x8b\x08"), file + "is compressed; unpack it by gunzip");
  EXPECT_THAT(Error(std::string(2 << 20, 'x')),
              HasSubstr("line 1 has more than 1048576 bytes"));
  EXPECT_THAT(Error("\xff\n"), HasSubstr("'\\xff'"));
}

TEST_F(LoadShortlistTest, AFileOfAnotherVocabularyIsNone) {
  EXPECT_THAT(Error("\t</s>\nle\tchat\nla\tmaison\n"),
              HasSubstr("none of its 3 lines has source and target tokens "
                        "that the model knows; the first that it does not is "
                        "'le'"));
  // Nor is one whose sources are known, and whose targets are not.
  EXPECT_THAT(Error("s\tchat\ne\tmaison\n"),
              HasSubstr("the first that it does not is 'chat'"));
  EXPECT_THAT(Error("chat le 0.5\n"), HasSubstr("the first that it does not"));
  EXPECT_THAT(Error(""), HasSubstr("none of its 0 lines"));
}

TEST_F(LoadShortlistTest, WhatIsNoFileIsSaid) {
  const auto error = [&](const std::string& path) {
    const auto loaded = LoadShortlist({.path = path}, *tokenizer_, kVocab);
    return std::string(loaded.status().message());
  };
  EXPECT_THAT(error(directory_.path()), HasSubstr("is not a file"));
  EXPECT_THAT(error(directory_.path() + "/none"),
              HasSubstr("/none: No such file or directory"));
}

}  // namespace
}  // namespace attend
