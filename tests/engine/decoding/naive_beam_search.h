#ifndef ATTEND_TESTS_ENGINE_DECODING_NAIVE_BEAM_SEARCH_H_
#define ATTEND_TESTS_ENGINE_DECODING_NAIVE_BEAM_SEARCH_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/engine/decoding/fake_model.h"
#include "tests/engine/decoding/naive_processors.h"

namespace attend {

struct NaiveBeam {
  std::vector<int> tokens;
  float score = 0;
  bool finished = false;
};

inline void SortByScore(std::vector<NaiveBeam>& beams) {
  std::stable_sort(
      beams.begin(), beams.end(),
      [](const NaiveBeam& a, const NaiveBeam& b) { return a.score > b.score; });
}

// Beam search over full arrays, written like transformers' _beam_search for a
// batch of one: every beam times every token, masks of -1e9, merged pools.
// `stops(tokens)`: whether the last token completes a stop string.
inline std::vector<NaiveBeam> NaiveBeamSearch(
    const GenerationParams& params, const FakeModel& model,
    const std::function<bool(const std::vector<int>&)>& stops) {
  constexpr float kDead = -1e9f;
  const std::vector<int> prompt = PromptOf(params);
  std::vector<int> ends = params.eos_ids;
  ends.insert(ends.end(), params.stop_ids.begin(), params.stop_ids.end());
  const size_t beams = params.num_beams;
  const size_t keep = std::max<size_t>(2, 1 + ends.size()) * beams;
  const bool stop_at_full = params.early_stopping == EarlyStopping::kTrue;

  std::vector<NaiveBeam> running(beams, {prompt, kDead});
  running[0].score = 0;
  std::vector<NaiveBeam> pool(beams, {prompt, kDead});
  for (int length = 1;; ++length) {
    const auto normalised = [&](float sum, int len) {
      return sum / static_cast<float>(std::pow(len, params.length_penalty));
    };
    std::vector<NaiveBeam> candidates;
    for (const NaiveBeam& beam : running) {
      std::vector<float> scores = NaiveProcess(
          params, beam.tokens, LogSoftmax(model.Logits(beam.tokens)));
      if (params.renormalize_logits) scores = LogSoftmax(scores);
      for (int id = 0; id < model.vocab(); ++id) {
        candidates.push_back({beam.tokens, scores[id] + beam.score});
        candidates.back().tokens.push_back(id);
      }
    }
    SortByScore(candidates);
    candidates.resize(keep);
    bool all_ended = true;
    for (NaiveBeam& candidate : candidates) {
      candidate.finished =
          length >= params.max_new_tokens ||
          std::count(ends.begin(), ends.end(), candidate.tokens.back()) > 0 ||
          stops(candidate.tokens);
      all_ended = all_ended && candidate.finished;
    }
    running.clear();
    for (const NaiveBeam& candidate : candidates) {
      running.push_back({candidate.tokens,
                         candidate.score + (candidate.finished ? kDead : 0)});
    }
    SortByScore(running);
    running.resize(beams);
    for (size_t rank = 0; rank < beams; ++rank) {
      if (!candidates[rank].finished) continue;
      pool.push_back({candidates[rank].tokens,
                      normalised(candidates[rank].score, length), true});
    }
    SortByScore(pool);
    pool.resize(beams);

    const bool full = std::all_of(pool.begin(), pool.end(),
                                  [](const auto& b) { return b.finished; });
    const bool at_max = params.early_stopping == EarlyStopping::kNever &&
                        params.length_penalty > 0;
    const float hope =
        normalised(running[0].score, at_max ? params.max_new_tokens : length);
    const float worst = full ? pool.back().score : kDead;
    if (all_ended || (full && stop_at_full) || !(hope > worst)) break;
  }
  pool.resize(params.num_return_sequences);
  for (NaiveBeam& beam : pool) {
    beam.tokens.erase(beam.tokens.begin(), beam.tokens.begin() + prompt.size());
  }
  return pool;
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_DECODING_NAIVE_BEAM_SEARCH_H_
