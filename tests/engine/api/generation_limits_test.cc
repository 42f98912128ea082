#include "engine/api/generation_limits.h"

#include <algorithm>
#include <iterator>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

const GenerationParams kParams;

bool HasRow(const int& field) {
  return std::any_of(
      std::begin(kIntLimits), std::end(kIntLimits),
      [&](const auto& row) { return &(kParams.*row.field) == &field; });
}
bool HasRow(const float& field) {
  return std::any_of(
      std::begin(kFloatLimits), std::end(kFloatLimits),
      [&](const auto& row) { return &(kParams.*row.field) == &field; });
}
// All values are good, or it is no number.
template <class T>
bool HasRow(const T&) {
  static_assert(!std::is_arithmetic_v<T> || std::is_same_v<T, bool> ||
                std::is_same_v<T, uint64_t>);
  return true;
}

TEST(GenerationLimitsTest, EveryNumberHasARow) {
  // Compiles only while it names all fields: add a new one here, and below if
  // it is not limited by the vocabulary.
  const auto& [max_new_tokens, min_new_tokens, num_beams, num_return_sequences,
               length_penalty, early_stopping, do_sample, temperature, top_k,
               top_p, min_p, seed, repetition_penalty, presence_penalty,
               frequency_penalty, no_repeat_ngram_size, renormalize_logits,
               bad_words, sequence_bias, suppress_tokens, begin_suppress_tokens,
               force_words, constraint, forced_prefix, eos_ids, stop_ids,
               stop_strings, thought, decoder_start_id, pad_id, forced_bos_id,
               forced_eos_id, log_probs, prompt_log_probs, top_log_probs,
               alignments] = kParams;
  const auto count = [](const auto&... field) { return (HasRow(field) + ...); };
  EXPECT_EQ(
      count(max_new_tokens, min_new_tokens, num_beams, num_return_sequences,
            length_penalty, early_stopping, do_sample, temperature, top_k,
            top_p, min_p, seed, repetition_penalty, presence_penalty,
            frequency_penalty, no_repeat_ngram_size, renormalize_logits,
            bad_words, sequence_bias, suppress_tokens, begin_suppress_tokens,
            force_words, constraint, forced_prefix, eos_ids, stop_ids,
            stop_strings, log_probs, prompt_log_probs, top_log_probs),
      30);
  EXPECT_EQ(count(decoder_start_id, pad_id, forced_bos_id, forced_eos_id), 0);
}

TEST(GenerationLimitsTest, NamesFieldValueAndLimits) {
  GenerationParams params;
  EXPECT_TRUE(CheckLimits(params).ok());
  params.top_p = 0;
  EXPECT_EQ(CheckLimits(params, "params.").message(),
            "params.top_p is 0, must be in (0, 1]");
  params.top_p = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(CheckLimits(params).message(), HasSubstr("top_p is nan"));
  params.num_beams = -1;
  EXPECT_EQ(CheckLimits(params).message(),
            "num_beams is -1, must be in [1, 128]");
  EXPECT_EQ(CheckTopLogProbs(21).message(),
            "top_log_probs is 21, must be in [0, 20]");
}

TEST(GenerationLimitsTest, ListsAndTheirEntriesHaveSizes) {
  const auto message = [](auto change) {
    GenerationParams params;
    change(params);
    return std::string(CheckLimits(params).message());
  };
  using P = GenerationParams;
  EXPECT_EQ(message([](P& p) {
              p.bad_words.assign(4096, std::vector<int>(64));
              p.sequence_bias.assign(4096, {std::vector<int>(64), -100});
              p.suppress_tokens.assign(4096, 0);
              p.begin_suppress_tokens.assign(4096, 0);
              p.eos_ids.assign(64, 0);
              p.stop_ids.assign(64, 0);
              p.stop_strings.assign(16, std::string(256, 'a'));
            }),
            "");
  EXPECT_EQ(message([](P& p) { p.bad_words.assign(4097, {1}); }),
            "bad_words has 4097 entries, must be 0 to 4096");
  EXPECT_EQ(message([](P& p) { p.bad_words = {{}}; }),
            "bad_words: an entry has 0 tokens, must be 1 to 64");
  EXPECT_THAT(message([](P& p) { p.bad_words = {std::vector<int>(65)}; }),
              HasSubstr("65 tokens"));
  EXPECT_EQ(message([](P& p) {
              p.sequence_bias.assign(4097, {{1}, 1});
            }),
            "sequence_bias has 4097 entries, must be 0 to 4096");
  EXPECT_EQ(message([](P& p) {
              p.sequence_bias = {{{}, 1}};
            }),
            "sequence_bias: an entry has 0 tokens, must be 1 to 64");
  for (const float bias : {-100.5f, 100.5f, std::nanf("")}) {
    EXPECT_THAT(message([bias](P& p) {
                  p.sequence_bias = {{{1}, bias}};
                }),
                HasSubstr("must be in [-100, 100]"));
  }
  EXPECT_EQ(message([](P& p) { p.force_words.assign(65, {{1}}); }),
            "force_words has 65 entries, must be 0 to 64");
  EXPECT_EQ(message([](P& p) { p.force_words = {{}}; }),
            "force_words: an entry has 0 alternatives, must be 1 to 64");
  EXPECT_EQ(message([](P& p) { p.force_words = {{{}}}; }),
            "force_words: an alternative has 0 tokens, must be 1 to 64");
  EXPECT_EQ(message([](P& p) { p.suppress_tokens.assign(4097, 1); }),
            "suppress_tokens has 4097 entries, must be 0 to 4096");
  EXPECT_EQ(message([](P& p) { p.begin_suppress_tokens.assign(4097, 1); }),
            "begin_suppress_tokens has 4097 entries, must be 0 to 4096");
  EXPECT_THAT(message([](P& p) { p.eos_ids.assign(65, 0); }),
              HasSubstr("eos_ids has 65 entries"));
  EXPECT_THAT(message([](P& p) { p.stop_ids.assign(65, 0); }),
              HasSubstr("stop_ids has 65 entries"));
  EXPECT_THAT(message([](P& p) { p.stop_strings.assign(17, "a"); }),
              HasSubstr("stop_strings has 17 entries"));
  EXPECT_THAT(message([](P& p) { p.stop_strings = {""}; }),
              HasSubstr("0 bytes"));
  EXPECT_THAT(message([](P& p) { p.stop_strings = {std::string(257, 'a')}; }),
              HasSubstr("257 bytes, must be 1 to 256"));
}

}  // namespace
}  // namespace attend
