#include "engine/tokenizer/hf/hf_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "engine/tokenizer/load_tokenizer.h"
#include "engine/tokenizer/text/utf8.h"
#include "tests/engine/tokenizer/lines.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr int kLines = kSanitized ? 1000 : 20000;  // the first of the file's
constexpr int kBlock = 100;

std::string Directory(const std::string& name) {
  return ATTEND_SOURCE_DIR "/tests/engine/tokenizer/golden/" + name;
}

std::string Streamed(const Tokenizer& tokenizer, const std::vector<int>& ids) {
  const std::unique_ptr<StreamDecoder> stream = tokenizer.NewStream({});
  std::string text;
  for (const int id : ids) text += stream->Append(id);
  return text + stream->Flush();
}

void Add(const Encoding& encoding, bool ids_only, Digest& digest) {
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    if (ids_only) {
      digest.Add(encoding.ids[i]);
      continue;
    }
    const TokenOrigin& origin = encoding.origins[i];
    for (const int64_t number : {encoding.ids[i], encoding.types[i],
                                 origin.text, origin.begin, origin.end}) {
      digest.Add(number);
    }
  }
  digest.Add(-1);
}

// A tokenizer of golden/make_tokenizers.py.
class GoldenTokenizerTest : public testing::TestWithParam<const char*> {
 protected:
  GoldenTokenizerTest() {
    auto loaded = LoadTokenizer(Directory(GetParam()));
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    tokenizer_ = *std::move(loaded);
    std::ifstream(Directory(GetParam()) + "/expected.json") >> expected_;
    ids_only_ = expected_.value("ids_only", false);
  }

  Encoding Encode(const EncodeInput& input) {
    auto encoding = tokenizer_->Encode(input);
    EXPECT_TRUE(encoding.ok()) << encoding.status();
    return *std::move(encoding);
  }

  Lines lines_;
  std::unique_ptr<Tokenizer> tokenizer_;
  nlohmann::json expected_;
  bool ids_only_ = false;  // Python says nothing of types and origins
};

TEST_P(GoldenTokenizerTest, Cases) {
  for (const nlohmann::json& e : expected_["cases"]) {
    const std::string text = e["text"];
    const std::string pair = e.value("pair", "");
    const std::string language = e.value("language", "");
    EncodeInput input{.text = text};
    if (e.contains("pair")) input.pair = pair;
    if (e["side"] == "target") input.side = Side::kTarget;
    input.add_special = e.value("add_special", true);
    input.language = language;
    input.max_tokens = e.value("max_tokens", 0);
    const Encoding encoding = Encode(input);
    EXPECT_EQ(encoding.ids, e["ids"].get<std::vector<int>>()) << e;
    std::vector<std::vector<int>> origins;
    for (const TokenOrigin& o : encoding.origins) {
      origins.push_back({o.text, o.begin, o.end});
    }
    if (!ids_only_) {
      EXPECT_EQ(encoding.types, e["types"].get<std::vector<int>>()) << e;
      EXPECT_EQ(origins, e["origins"].get<std::vector<std::vector<int>>>())
          << e;
    }
    const std::vector<int> ids = e["ids"];
    EXPECT_EQ(*tokenizer_->Decode(ids, Side::kTarget, false),
              e["decoded"].get<std::string>());
    EXPECT_EQ(*tokenizer_->Decode(ids, Side::kTarget, true),
              e["decoded_special"].get<std::string>());
  }
}

// Ids, types, origins, decoded text; and the same text when it comes in a
// stream. A block that differs: make_tokenizers.py --show NAME LINE.
TEST_P(GoldenTokenizerTest, TwentyThousandLines) {
  Digest lines, pairs, texts;
  int wrong = 0;
  for (int i = 0; i < kLines && wrong < 5; ++i) {
    const std::string line = lines_.Get(i);
    const Encoding encoding = Encode({.text = line});
    Add(encoding, ids_only_, lines);
    const auto text = tokenizer_->Decode(encoding.ids, Side::kTarget, false);
    ASSERT_TRUE(text.ok()) << text.status();
    for (const char c : *text) texts.Add(static_cast<unsigned char>(c));
    texts.Add(-1);
    if (i % 5 == 0) {
      ASSERT_EQ(Streamed(*tokenizer_, encoding.ids), *text) << "line " << i;
      const std::string next = lines_.Get(i + 1);
      Add(Encode({.text = line, .pair = next, .max_tokens = 8 + i % 30}),
          ids_only_, pairs);
    }
    if (i % kBlock != kBlock - 1) continue;
    const auto check = [&](const char* what, Digest& digest) {
      const std::string expected = expected_[what][i / kBlock];
      const std::string found = digest.Take();
      wrong += found != expected;
      EXPECT_EQ(found, expected) << what << " before " << i + 1;
    };
    check("lines", lines);
    check("pairs", pairs);
    check("texts", texts);
  }
}

TEST_P(GoldenTokenizerTest, GenerationBeginsWithTheTargetLanguage) {
  for (const auto& [code, id] : expected_["forced_bos"].items()) {
    const auto found = tokenizer_->LanguageId(code);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, id.get<int>()) << code;
    EXPECT_TRUE(tokenizer_->IsSpecial(*found, Side::kTarget));
  }
}

TEST_P(GoldenTokenizerTest, StreamsJoinToDecodeForAnyIds) {
  std::mt19937 random(7);
  const int vocab = tokenizer_->vocab_size(Side::kTarget);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> ids(random() % 30);
    for (int& id : ids) id = static_cast<int>(random() % vocab);
    ASSERT_EQ(Streamed(*tokenizer_, ids),
              *tokenizer_->Decode(ids, Side::kTarget, false))
        << testing::PrintToString(ids);
  }
}

TEST_P(GoldenTokenizerTest, PiecesAndIds) {
  const int vocab = tokenizer_->vocab_size(Side::kTarget);
  for (int id = 0; id < vocab; ++id) {
    const absl::string_view piece = tokenizer_->Piece(id, Side::kTarget);
    EXPECT_EQ(tokenizer_->TokenId(piece, Side::kTarget), id) << piece;
    if (tokenizer_->IsSpecial(id, Side::kTarget)) {
      EXPECT_EQ(tokenizer_->TokenText(id), "");
    }
  }
  EXPECT_EQ(tokenizer_->TokenId("no such piece", Side::kSource), -1);
  EXPECT_EQ(tokenizer_->Piece(vocab, Side::kSource), "");
  EXPECT_EQ(tokenizer_->TokenText(vocab), "");
  EXPECT_EQ(Streamed(*tokenizer_, {vocab, vocab + 5}), "");
  EXPECT_THAT(
      tokenizer_->Decode({vocab}, Side::kTarget, false).status().message(),
      HasSubstr("not in the vocabulary"));
}

TEST_P(GoldenTokenizerTest, InvalidUtf8IsNamedByItsByte) {
  EXPECT_THAT(tokenizer_->Encode({.text = "ab\xc3"}).status().message(),
              HasSubstr("text is not UTF-8 at byte 2"));
  EXPECT_THAT(tokenizer_->Encode({.text = "a", .pair = "\xed\xa0\x80"})
                  .status()
                  .message(),
              HasSubstr("pair is not UTF-8 at byte 0"));
}

TEST_P(GoldenTokenizerTest, ThreadsShareIt) {
  const std::string line = lines_.Get(17);
  const Encoding alone = Encode({.text = line});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const std::string other = lines_.Get(100 * t + i);
        EXPECT_TRUE(tokenizer_->Encode({.text = other}).ok());
        const auto again = tokenizer_->Encode({.text = line});
        EXPECT_EQ(again->ids, alone.ids);
        EXPECT_EQ(Streamed(*tokenizer_, again->ids),
                  *tokenizer_->Decode(again->ids, Side::kTarget, false));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenTokenizerTest,
    testing::Values("bert", "roberta", "xlm-roberta", "t5", "byte-fallback",
                    "nllb", "words", "spm-t5", "spm-pegasus", "spm-xlm-roberta",
                    "spm-mbart", "spm-mbart-50", "m2m-100", "m2m-100-unigram"));

class SlowTokenizerTest : public GoldenTokenizerTest {};

// Where the reference has no origins to compare: they are whole characters of
// the text, in its order, and none of the text's words are left out.
TEST_P(SlowTokenizerTest, OriginsFollowTheText) {
  ASSERT_TRUE(ids_only_);
  for (int i = 0; i < kLines; i += 10) {
    const std::string line = lines_.Get(i);
    int end = 0;
    for (const TokenOrigin& origin : Encode({.text = line}).origins) {
      if (origin.text < 0) continue;
      ASSERT_LE(end, origin.end) << line;
      ASSERT_LE(origin.begin, origin.end) << line;
      ASSERT_LE(origin.end, static_cast<int>(line.size())) << line;
      const auto part = absl::string_view(line).substr(
          origin.begin, origin.end - origin.begin);
      ASSERT_EQ(FindInvalidUtf8(part), absl::string_view::npos) << line;
      if (origin.begin > end) {
        ASSERT_EQ(Encode({.text = absl::string_view(line).substr(
                              end, origin.begin - end),
                          .add_special = false})
                      .ids.size(),
                  0u)
            << line;
      }
      end = origin.end;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SlowTokenizerTest,
                         testing::Values("m2m-100", "m2m-100-unigram"));

TEST(HfTokenizerTest, Languages) {
  const auto tokenizer = LoadTokenizer(Directory("nllb"));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ(*(*tokenizer)->LanguageId("deu_Latn"),
            (*tokenizer)->TokenId("deu_Latn", Side::kTarget));
  for (const char* wrong : {"de", "", "xxx_Latn"}) {
    EXPECT_THAT((*tokenizer)->LanguageId(wrong).status().message(),
                HasSubstr("must be one of ace_Arab, deu_Latn, eng_Latn"));
  }
  EXPECT_THAT(
      (*tokenizer)->Encode({.text = "a", .language = "de"}).status().message(),
      HasSubstr("language is \"de\""));
}

TEST(HfTokenizerTest, WhatTheFilesSay) {
  const auto bert = LoadTokenizer(Directory("bert"));
  EXPECT_EQ((*bert)->max_length(), 512);
  EXPECT_TRUE((*bert)->cleans_up_spaces());
  EXPECT_EQ((*bert)->mask_id(), (*bert)->TokenId("[MASK]", Side::kSource));
  EXPECT_FALSE((*bert)->LanguageId("de").ok());
  const auto roberta = LoadTokenizer(Directory("roberta"));
  EXPECT_EQ((*roberta)->mask_id(),
            (*roberta)->TokenId("<mask>", Side::kSource));
  // As transformers: byte pairs are left alone.
  EXPECT_FALSE((*roberta)->cleans_up_spaces());
  const auto words = LoadTokenizer(Directory("words"));
  EXPECT_EQ((*words)->mask_id(), -1);
  EXPECT_EQ((*words)->max_length(), 0);
}

// The library gives them in another order in each process.
TEST(HfTokenizerTest, OfTwoSpellingsOfAnIdTheSpecialOneIsKept) {
  nlohmann::json file;
  std::ifstream(Directory("words") + "/tokenizer.json") >> file;
  const int unknown = file["model"]["vocab"]["<unk>"];
  const int word = file["model"]["vocab"].size();
  file["model"]["vocab"]["<<"] = unknown;
  file["model"]["vocab"]["word b"] = file["model"]["vocab"]["word a"] = word;
  const std::string directory =
      absl::StrCat(testing::TempDir(), "attend_spellings_", getpid());
  std::filesystem::create_directory(directory);
  std::ofstream(directory + "/tokenizer.json") << file;
  const auto tokenizer = LoadTokenizer(directory);
  std::filesystem::remove_all(directory);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->TokenId("<unk>", Side::kSource), unknown);
  EXPECT_EQ((*tokenizer)->TokenId("word a", Side::kSource), word);
  EXPECT_EQ((*tokenizer)->TokenId("word b", Side::kSource), -1);
}

}  // namespace
}  // namespace attend
