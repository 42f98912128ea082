#ifndef ATTEND_TESTS_ENGINE_DECODING_NAIVE_PROCESSORS_H_
#define ATTEND_TESTS_ENGINE_DECODING_NAIVE_PROCESSORS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/api/constraint.h"
#include "engine/api/generation_params.h"
#include "tests/engine/decoding/fake_model.h"

namespace attend {

// The processors over a whole row, one after the other.
inline std::vector<float> NaiveProcess(const GenerationParams& params,
                                       const std::vector<int>& tokens,
                                       std::vector<float> scores) {
  constexpr float kMinusInf = -std::numeric_limits<float>::infinity();
  const int len = static_cast<int>(tokens.size());
  const int prompt = 1 + static_cast<int>(params.forced_prefix.size());
  std::set<int> ends(params.eos_ids.begin(), params.eos_ids.end());
  ends.insert(params.stop_ids.begin(), params.stop_ids.end());

  const auto completes = [&](const std::vector<int>& word) {
    const int before = static_cast<int>(word.size()) - 1;
    return before <= len &&
           std::equal(word.begin(), word.end() - 1, tokens.end() - before);
  };
  for (const SequenceBias& entry : params.sequence_bias) {
    if (completes(entry.tokens)) scores[entry.tokens.back()] += entry.bias;
  }
  for (int id : std::set<int>(tokens.begin(), tokens.end())) {
    scores[id] = scores[id] < 0 ? scores[id] * params.repetition_penalty
                                : scores[id] / params.repetition_penalty;
  }
  for (int id = 0; id < static_cast<int>(scores.size()); ++id) {
    const auto count = std::count(tokens.begin() + prompt, tokens.end(), id);
    if (count == 0) continue;
    scores[id] -= params.presence_penalty + params.frequency_penalty * count;
  }
  const int n = params.no_repeat_ngram_size;
  for (int i = 0; n > 0 && i + n <= len; ++i) {
    if (std::equal(tokens.begin() + i, tokens.begin() + i + n - 1,
                   tokens.end() - (n - 1))) {
      scores[tokens[i + n - 1]] = kMinusInf;
    }
  }
  for (const std::vector<int>& word : params.bad_words) {
    if (word.size() == 1 && ends.count(word[0]) > 0) continue;
    if (completes(word)) scores[word.back()] = kMinusInf;
  }
  if (len - prompt < params.min_new_tokens) {
    for (int id : ends) scores[id] = kMinusInf;
  }
  if (params.constraint != nullptr) {
    const auto state = params.constraint->Begin();
    for (int i = prompt; i < len; ++i) state->Append(tokens[i]).IgnoreError();
    std::vector<uint32_t> mask(MaskWords(static_cast<int>(scores.size())));
    const absl::StatusOr<bool> can_end = state->Mask(absl::MakeSpan(mask));
    for (int id = 0; id < static_cast<int>(scores.size()); ++id) {
      const bool allowed = ends.count(id) > 0 ? can_end.ok() && *can_end
                                              : mask[id / 32] >> (id % 32) & 1;
      if (!allowed) scores[id] = kMinusInf;
    }
  }
  for (int id : params.suppress_tokens) scores[id] = kMinusInf;
  if (len == prompt) {
    for (int id : params.begin_suppress_tokens) scores[id] = kMinusInf;
  }
  const auto force = [&](int id) {
    std::fill(scores.begin(), scores.end(), kMinusInf);
    scores[id] = 0;
  };
  if (params.forced_bos_id >= 0 && len == 1) force(params.forced_bos_id);
  if (params.forced_eos_id >= 0 && len == prompt + params.max_new_tokens - 1) {
    force(params.forced_eos_id);
  }
  return scores;
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_DECODING_NAIVE_PROCESSORS_H_
