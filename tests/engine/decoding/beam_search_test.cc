#include <algorithm>
#include <string>
#include <vector>

#include "engine/decoding/search.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"
#include "tests/engine/decoding/naive_beam_search.h"

namespace attend {
namespace {

constexpr int kVocab = 13;

bool StartsWith(const std::vector<int>& tokens, const std::vector<int>& start) {
  return start.size() <= tokens.size() &&
         std::equal(start.begin(), start.end(), tokens.begin());
}

// Letters, so that a stop string is a run of tokens.
VocabularyTexts Texts() {
  VocabularyTexts texts;
  for (int id = 0; id < kVocab; ++id) texts.plain.Add(std::string(1, 'a' + id));
  return texts;
}

// Runs the search, and checks on the way what holds at each step.
SequenceOutput RunSearch(const GenerationParams& params,
                         const FakeModel& model) {
  const VocabularyTexts texts = Texts();
  const auto search =
      MakeSearch({params, PromptOf(params), model.vocab(), &texts});
  EXPECT_EQ(search->rows(), 1);
  std::vector<int> emitted;
  std::vector<float> emitted_log_probs;
  std::vector<std::vector<int>> before = {
      {search->tokens(0).begin(), search->tokens(0).end()}};
  while (search->rows() > 0) {
    model.Step(*search);
    const ChoiceOutput& best = search->output().choices[0];
    EXPECT_TRUE(StartsWith(best.tokens, emitted));
    emitted = best.tokens;
    if (params.log_probs) {
      EXPECT_EQ(best.log_probs.size(), best.tokens.size());
      EXPECT_TRUE(std::equal(emitted_log_probs.begin(), emitted_log_probs.end(),
                             best.log_probs.begin()));
      emitted_log_probs = best.log_probs;
    }
    EXPECT_EQ(search->parents().size(), static_cast<size_t>(search->rows()));
    std::vector<std::vector<int>> now;
    for (int row = 0; row < search->rows(); ++row) {
      const auto tokens = search->tokens(row);
      now.emplace_back(tokens.begin(), tokens.end());
      const int parent = search->parents()[row];
      EXPECT_LT(parent, static_cast<int>(before.size()));
      EXPECT_EQ(now.back().size(), before[parent].size() + 1);
      EXPECT_TRUE(StartsWith(now.back(), before[parent]));
    }
    before = now;
  }
  EXPECT_TRUE(search->output().finished);
  return search->output();
}

void ExpectEqualsNaive(const GenerationParams& params, const FakeModel& model) {
  const SequenceOutput output = RunSearch(params, model);
  const auto stops = [&](const std::vector<int>& tokens) {
    std::string text;
    for (size_t i = 1 + params.forced_prefix.size(); i < tokens.size(); ++i) {
      text += static_cast<char>('a' + tokens[i]);
    }
    for (const std::string& stop : params.stop_strings) {
      if (text.size() >= stop.size() &&
          text.substr(text.size() - stop.size()) == stop) {
        return true;
      }
    }
    return false;
  };
  const std::vector<NaiveBeam> expected = NaiveBeamSearch(params, model, stops);
  ASSERT_EQ(output.choices.size(), expected.size());
  for (size_t rank = 0; rank < expected.size(); ++rank) {
    ASSERT_TRUE(expected[rank].finished);
    EXPECT_EQ(output.choices[rank].tokens, expected[rank].tokens) << rank;
    EXPECT_NEAR(output.choices[rank].score, expected[rank].score, 1e-4) << rank;
    EXPECT_NE(output.choices[rank].finish, FinishReason::kNone);
  }
}

TEST(BeamSearchTest, EqualsTheNaiveSearch) {
  int model_seed = 0;
  for (float length_penalty : {0.0f, 0.6f, 1.0f, 2.0f, -1.0f}) {
    for (EarlyStopping early_stopping :
         {EarlyStopping::kFalse, EarlyStopping::kTrue, EarlyStopping::kNever}) {
      for (int ends : {0, 1, 2, 3}) {
        for (int max_new_tokens : {1, 3, 14}) {
          for (int prefix : {0, 2}) {
            GenerationParams params;
            params.length_penalty = length_penalty;
            params.early_stopping = early_stopping;
            if (ends > 0) params.eos_ids = {2};
            for (int i = 1; i < ends; ++i) params.stop_ids.push_back(2 + i);
            params.max_new_tokens = max_new_tokens;
            params.forced_prefix.assign(prefix, 5);
            params.num_beams = 2 + model_seed % 3;
            params.num_return_sequences = 1 + model_seed % params.num_beams;
            SCOPED_TRACE(testing::Message()
                         << "length_penalty " << length_penalty
                         << " early_stopping "
                         << static_cast<int>(early_stopping) << " ends " << ends
                         << " max_new_tokens " << max_new_tokens << " prefix "
                         << prefix << " beams " << params.num_beams);
            ExpectEqualsNaive(params, FakeModel(kVocab, model_seed++));
          }
        }
      }
    }
  }
}

TEST(BeamSearchTest, EqualsTheNaiveSearchWithProcessors) {
  for (int seed = 0; seed < 128; ++seed) {
    GenerationParams params;
    params.num_beams = params.num_return_sequences = 3;
    params.max_new_tokens = 12;
    params.eos_ids = {2};
    params.early_stopping = static_cast<EarlyStopping>(seed % 3);
    params.bad_words = {{0}, {4, 5}};
    if (seed & 1) params.repetition_penalty = 1.4;
    if (seed & 2) params.no_repeat_ngram_size = 2;
    if (seed & 4) params.min_new_tokens = 5;
    if (seed & 8) params.renormalize_logits = true;
    if (seed & 16) params.forced_bos_id = 7;
    if (seed & 32) params.forced_eos_id = 2;
    if (seed & 64) params.frequency_penalty = 0.4;
    params.log_probs = true;
    SCOPED_TRACE(seed);
    ExpectEqualsNaive(params, FakeModel(kVocab, 1000 + seed));
  }
}

TEST(BeamSearchTest, EqualsTheNaiveSearchWithStopStrings) {
  int stopped = 0;
  for (int seed = 0; seed < 60; ++seed) {
    GenerationParams params;
    params.num_beams = 3;
    params.num_return_sequences = 2;
    params.max_new_tokens = 12;
    params.eos_ids = {2};
    params.stop_strings = {"e", "gh", "b"};
    params.early_stopping = static_cast<EarlyStopping>(seed % 3);
    SCOPED_TRACE(seed);
    const FakeModel model(kVocab, 2000 + seed);
    ExpectEqualsNaive(params, model);
    stopped += RunSearch(params, model).choices[0].finish ==
               FinishReason::kStopSequence;
  }
  EXPECT_GT(stopped, 5);
}

TEST(BeamSearchTest, LogProbsAreThoseOfTheRawLogits) {
  for (int seed = 0; seed < 20; ++seed) {
    GenerationParams params;
    params.num_beams = params.num_return_sequences = 4;
    params.max_new_tokens = 9;
    params.eos_ids = {2};
    params.bad_words = {{1}, {3}};
    params.repetition_penalty = 1.2;
    params.top_log_probs = 3;
    const FakeModel model(kVocab, 3000 + seed);
    for (const ChoiceOutput& choice : RunSearch(params, model).choices) {
      ASSERT_EQ(choice.log_probs.size(), choice.tokens.size());
      ASSERT_EQ(choice.top.size(), 3 * choice.tokens.size());
      std::vector<int> tokens = {0};
      for (size_t i = 0; i < choice.tokens.size(); ++i) {
        const std::vector<float> expected = LogSoftmax(model.Logits(tokens));
        EXPECT_NEAR(choice.log_probs[i], expected[choice.tokens[i]], 1e-5);
        float last = 0;
        for (size_t j = 3 * i; j < 3 * i + 3; ++j) {
          EXPECT_NEAR(choice.top[j].log_prob, expected[choice.top[j].id], 1e-5);
          EXPECT_LE(choice.top[j].log_prob, last);
          last = choice.top[j].log_prob;
        }
        EXPECT_NEAR(choice.top[3 * i].log_prob,
                    *std::max_element(expected.begin(), expected.end()), 1e-5);
        tokens.push_back(choice.tokens[i]);
      }
    }
  }
}

TEST(BeamSearchTest, FinishReasons) {
  GenerationParams params;
  params.num_beams = 2;
  params.max_new_tokens = 4;
  EXPECT_EQ(RunSearch(params, FakeModel(kVocab, 1)).choices[0].finish,
            FinishReason::kMaxLength);
  params.forced_eos_id = 2;
  params.eos_ids = {2};
  params.min_new_tokens = 3;
  const ChoiceOutput best = RunSearch(params, FakeModel(kVocab, 1)).choices[0];
  EXPECT_EQ(best.finish, FinishReason::kEos);
  EXPECT_EQ(best.tokens.size(), 4u);
}

// Where nothing ends early, what is emitted is what all beams share.
TEST(BeamSearchTest, StreamsAllThatTheBeamsShare) {
  GenerationParams params;
  params.num_beams = 4;
  params.max_new_tokens = 60;
  params.forced_prefix = {3};
  const FakeModel model(kVocab, 4, 12);
  const auto search = MakeSearch({params, PromptOf(params), kVocab});
  for (int step = 0; step < 59; ++step) {
    model.Step(*search);
    absl::Span<const int> shared = search->tokens(0);
    for (int row = 1; row < search->rows(); ++row) {
      const auto other = search->tokens(row);
      const auto end =
          std::mismatch(shared.begin(), shared.end(), other.begin()).first;
      shared = shared.first(end - shared.begin());
    }
    EXPECT_EQ(absl::MakeConstSpan(search->output().choices[0].tokens),
              shared.subspan(2));
  }
  EXPECT_GT(search->output().choices[0].tokens.size(), 15u);
}

// Bans leave fewer continuations than beams: no crash, whole choices.
TEST(BeamSearchTest, SurvivesARowWithoutContinuations) {
  for (int allowed : {0, 1, 2}) {
    for (int max_new_tokens : {1, 2, 6}) {
      for (bool renormalize : {false, true}) {
        GenerationParams params;
        params.num_beams = params.num_return_sequences = 3;
        params.max_new_tokens = max_new_tokens;
        params.renormalize_logits = renormalize;
        for (int id = allowed; id < kVocab; ++id)
          params.bad_words.push_back({id});
        const SequenceOutput output = RunSearch(params, FakeModel(kVocab, 5));
        EXPECT_EQ(output.choices.size(), 3u);
        for (const ChoiceOutput& choice : output.choices) {
          EXPECT_FALSE(choice.tokens.empty());
          EXPECT_NE(choice.finish, FinishReason::kNone);
        }
      }
    }
  }
}

TEST(BeamSearchTest, ForcedLastTokenOnAVocabularyOfTheLeastSize) {
  GenerationParams params;
  params.num_beams = 2;
  params.eos_ids = {0};
  params.forced_eos_id = 0;
  params.max_new_tokens = 3;
  const SequenceOutput output = RunSearch(params, FakeModel(2, 6));
  EXPECT_EQ(output.choices[0].finish, FinishReason::kEos);
}

}  // namespace
}  // namespace attend
