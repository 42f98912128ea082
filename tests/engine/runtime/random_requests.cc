#include "tests/engine/runtime/random_requests.h"

#include <memory>
#include <random>
#include <utility>

#include "tests/support/token_constraint.h"

namespace attend {
namespace {

// About one in `one_in` tokens may follow, which ones the tokens before say;
// the first ids, and one that the model forces, always may. Every third
// sequence may end.
std::shared_ptr<const Constraint> SomeTokens(const ModelInfo& info,
                                             uint64_t seed, int one_in) {
  const auto hash = [seed](const std::vector<int>& tokens, int id) {
    uint64_t state = seed;
    for (const int token : tokens) state = state * 6364136223846793005 + token;
    return (state * 6364136223846793005 + uint64_t(id) * 1442695040888963407) >>
           40;
  };
  const int forced = info.generation.forced_bos_id;
  return std::make_shared<TokenConstraint>(TokenRules{
      .vocab = info.target_vocab,
      .allows =
          [=](const auto& tokens, int id) {
            return id < 9 || id == forced || hash(tokens, id) % one_in == 0;
          },
      .can_end =
          [=](const auto& tokens) { return hash(tokens, -1) % 3 == 0; }});
}

}  // namespace

std::vector<EngineRequest> RandomRequests(const Engine& engine, int count,
                                          int max_source, int max_new,
                                          uint32_t seed) {
  std::mt19937 random(seed);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const auto ids = [&](int n, int vocab) {
    std::vector<int> result(n);
    for (int& id : result) id = draw(2, vocab - 2);
    return result;
  };
  const ModelInfo& info = engine.info();
  std::vector<EngineRequest> requests;
  for (int i = 0; i < count; ++i) {
    EngineRequest request;
    request.input =
        InputOf(info, {.ids = ids(draw(1, max_source), info.source_vocab)});
    const int kind = draw(0, 9);
    const bool alignments = !info.continues_source && i % 4 == 1;
    if (kind == 0) {
      request.task =
          ScoreTask{.target = ids(draw(1, max_new), info.target_vocab),
                    .top_log_probs = 2,
                    .alignments = alignments};
    } else {
      GenerationParams params = info.generation;
      params.max_new_tokens = draw(1, max_new);
      params.num_beams = 1;
      params.log_probs = true;
      params.alignments = alignments;
      params.top_log_probs = draw(0, 3);
      if (kind <= 3) {
        params.num_beams = draw(2, 5);
        params.num_return_sequences = draw(1, params.num_beams);
      } else if (kind <= 6) {
        params.do_sample = true;
        params.seed = i;
        params.num_return_sequences = draw(1, 3);
      }
      if (draw(0, 3) == 0) {
        params.forced_prefix = ids(draw(1, 9), info.target_vocab);
      }
      if (draw(0, 3) == 0) params.no_repeat_ngram_size = 2;
      if (draw(0, 2) == 0) {
        params.constraint = SomeTokens(info, draw(0, 99), draw(2, 9));
      } else if (params.num_beams > 1 && i % 2 == 0) {
        const int first = 10 + i % (info.target_vocab - 12);
        params.force_words = {{{first, 5}, {first, 9}}, {{6, 7, 8}}};
      }
      request.task = GenerateTask{params};
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

std::vector<EngineRequest> OneChoiceRequests(const Engine& engine, int count) {
  std::mt19937 random(3);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  std::vector<EngineRequest> requests;
  for (int i = 0; i < count; ++i) {
    std::vector<int> tokens(draw(4, 30));
    for (int& token : tokens) token = draw(3, 8);
    GenerationParams params = engine.info().generation;
    params.num_beams = params.num_return_sequences = 1;
    params.max_new_tokens = draw(1, 40);
    params.log_probs = draw(0, 1) == 1;
    params.top_log_probs = params.log_probs ? draw(0, 2) : 0;
    params.do_sample = draw(0, 2) == 0;
    params.temperature = 0.2f;
    params.top_k = draw(0, 1) == 0 ? 0 : 4;
    params.seed = i;
    if (draw(0, 3) == 0) params.repetition_penalty = 1.05f;
    if (draw(0, 4) == 0) params.no_repeat_ngram_size = 6;
    if (draw(0, 4) == 0) params.min_new_tokens = params.max_new_tokens / 2;
    if (draw(0, 4) == 0) params.stop_ids = {draw(3, 60)};
    params.alignments = !engine.info().continues_source && draw(0, 3) == 0;
    params.prompt_log_probs = engine.info().continues_source && draw(0, 5) == 0;
    requests.push_back(
        {.input = InputOf(engine.info(), {.ids = std::move(tokens)}),
         .task = GenerateTask{params}});
  }
  return requests;
}

}  // namespace attend
