#ifndef ATTEND_TESTS_ENGINE_RUNTIME_RANDOM_REQUESTS_H_
#define ATTEND_TESTS_ENGINE_RUNTIME_RANDOM_REQUESTS_H_

#include <cstdint>
#include <vector>

#include "engine/api/engine.h"

namespace attend {

// Requests of all kinds and lengths from a seed: greedy, sampled, beams,
// forced prefixes, constraints, scores, alignments.
std::vector<EngineRequest> RandomRequests(const Engine& engine, int count,
                                          int max_source, int max_new,
                                          uint32_t seed);

// Inputs that repeat themselves, and one choice of tokens for each, with all
// that it may depend on.
std::vector<EngineRequest> OneChoiceRequests(const Engine& engine, int count);

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_RUNTIME_RANDOM_REQUESTS_H_
