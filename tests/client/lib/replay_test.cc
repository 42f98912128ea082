#include "client/cpp/lib/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::GenerateChunk Chunk(const std::string& text, const std::vector<int>& ids,
                        int choice = 0) {
  v1::GenerateChunk chunk;
  chunk.set_choice(choice);
  chunk.set_text(text);
  for (const int id : ids) {
    chunk.add_ids(id);
    chunk.add_log_probs()->mutable_token()->set_log_prob(-id);
  }
  return chunk;
}

v1::GenerateChunk Last() {
  v1::GenerateChunk chunk = Chunk("", {});
  chunk.set_finish_reason(v1::FINISH_REASON_EOS);
  chunk.mutable_status();
  return chunk;
}

bool Next(Replay& replay, v1::GenerateChunk chunk) {
  return replay.Next(chunk).value();
}

TEST(ReplayTest, AChunkLosesWhatHasBeenSeen) {
  Replay replay;
  replay.Begin();
  EXPECT_TRUE(Next(replay, Chunk("ab", {1, 2})));
  replay.Begin();
  EXPECT_FALSE(Next(replay, Chunk("a", {1})));
  v1::GenerateChunk chunk = Chunk("bcd", {2, 3, 4});
  ASSERT_TRUE(replay.Next(chunk).value());
  EXPECT_EQ(chunk.text(), "cd");
  EXPECT_THAT(chunk.ids(), ElementsAre(3, 4));
  ASSERT_EQ(chunk.log_probs_size(), 2);
  EXPECT_EQ(chunk.log_probs(0).token().log_prob(), -3);
  EXPECT_TRUE(replay.End().ok());
}

TEST(ReplayTest, ResultsAreApart) {
  Replay replay;
  EXPECT_TRUE(Next(replay, Chunk("a", {1}, 0)));
  replay.Begin();
  EXPECT_TRUE(Next(replay, Chunk("b", {2}, 1)));
  EXPECT_FALSE(Next(replay, Chunk("a", {1}, 0)));
  v1::GenerateChunk of_another_input = Chunk("c", {3});
  of_another_input.set_input(1);
  EXPECT_TRUE(Next(replay, of_another_input));
}

TEST(ReplayTest, WhatIsThereOnceComesOnce) {
  v1::GenerateChunk first = Chunk("", {});
  first.mutable_prompt()->set_text("p");
  Replay replay;
  EXPECT_TRUE(Next(replay, first));
  EXPECT_TRUE(Next(replay, Last()));
  replay.Begin();
  EXPECT_FALSE(Next(replay, first));
  EXPECT_FALSE(Next(replay, Last()));
  EXPECT_TRUE(replay.End().ok());
}

TEST(ReplayTest, AnotherTextIsAnError) {
  const v1::GenerateChunk seen = Chunk("ab", {1, 2});
  for (const auto& other :
       {Chunk("ax", {1, 2}), Chunk("ab", {1, 3}), Chunk("b", {1})}) {
    Replay replay;
    EXPECT_TRUE(Next(replay, seen));
    replay.Begin();
    v1::GenerateChunk chunk = other;
    const absl::Status status = replay.Next(chunk).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()), HasSubstr("another text"));
  }
}

TEST(ReplayTest, LessTextIsAnError) {
  for (const auto& less : {Chunk("a", {1, 2}), Chunk("ab", {1})}) {
    Replay replay;
    EXPECT_TRUE(Next(replay, Chunk("ab", {1, 2})));
    replay.Begin();
    Next(replay, less);
    EXPECT_EQ(replay.End().code(), absl::StatusCode::kUnavailable);
  }
}

TEST(ReplayTest, ATranslationGoesOn) {
  v1::TranslateChunk one, two, last;
  one.set_text("One.");
  two.set_text(" Two.");
  last.mutable_status();
  Replay replay;
  EXPECT_TRUE(replay.Next(one).value());
  replay.Begin();
  EXPECT_FALSE(replay.Next(one).value());
  EXPECT_TRUE(replay.Next(two).value());
  EXPECT_TRUE(replay.Next(last).value());
  replay.Begin();
  two.set_text(" Zwei.");
  one.set_text("One.");
  EXPECT_FALSE(replay.Next(one).value());
  EXPECT_FALSE(replay.Next(two).ok());
}

// Streams of the same results that are cut into chunks by chance, and break off
// by chance: what arrives of them all is the results.
class CutByChance {
 public:
  explicit CutByChance(int seed) : random_(seed) {}

  void Run() {
    for (int attempt = 0; attempt < 6; ++attempt) {
      replay_.Begin();
      const bool is_whole = attempt == 5;
      Attempt(is_whole ? kResults * kSize : Below(kResults * kSize));
    }
    EXPECT_TRUE(replay_.End().ok());
    for (int i = 0; i < kResults; ++i) {
      EXPECT_EQ(texts_[i], Text(i));
      EXPECT_EQ(ids_[i].size(), static_cast<size_t>(kSize));
      EXPECT_TRUE(std::is_sorted(ids_[i].begin(), ids_[i].end()));
    }
  }

 private:
  static constexpr int kResults = 3;
  static constexpr int kSize = 20;

  static std::string Text(int result) {
    std::string text;
    for (int i = 0; i < kSize; ++i) text += static_cast<char>('a' + result + i);
    return text;
  }
  int Below(int limit) {
    return std::uniform_int_distribution<>(0, limit - 1)(random_);
  }

  // Sends at least so many tokens.
  void Attempt(int size) {
    int at[kResults] = {};
    for (int sent = 0; sent < size;) {
      const int result = Below(kResults);
      const int count = std::min(1 + Below(4), kSize - at[result]);
      v1::GenerateChunk chunk =
          Chunk(Text(result).substr(at[result], count), {}, result);
      for (int i = 0; i < count; ++i) chunk.add_ids(at[result] + i);
      at[result] += count;
      sent += count;
      if (!replay_.Next(chunk).value()) continue;
      texts_[result] += chunk.text();
      ids_[result].insert(ids_[result].end(), chunk.ids().begin(),
                          chunk.ids().end());
    }
  }

  std::mt19937 random_;
  Replay replay_;
  std::string texts_[kResults];
  std::vector<int> ids_[kResults];
};

TEST(ReplayTest, AnyCutsGiveTheWhole) {
  for (int seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    CutByChance(seed).Run();
  }
}

TEST(ReplayTest, ASeedIsDrawnOnce) {
  v1::GenerationParams params;
  SetSeed(params);
  ASSERT_TRUE(params.has_seed());
  const uint64_t drawn = params.seed();
  SetSeed(params);
  EXPECT_EQ(params.seed(), drawn);
  v1::GenerationParams others;
  SetSeed(others);
  EXPECT_NE(others.seed(), drawn);
}

}  // namespace
}  // namespace attend
