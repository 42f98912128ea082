#ifndef ATTEND_ENGINE_API_MISSING_DEFAULT_H_
#define ATTEND_ENGINE_API_MISSING_DEFAULT_H_

#include <string>

namespace attend {

// A default in a model's files that this program cannot apply. The model is
// served without it; a request that would rely on it is refused.
struct MissingDefault {
  // The requests that rely on the default, unless they set `field`.
  enum class When { kAlways, kSampling, kGreedy, kNoBeams, kBeams };

  // The field of GenerationParams in requests that replaces the default; empty:
  // there is none.
  std::string field;
  // "generation_config.json: temperature is 0, must be in (0, 100]".
  std::string message;
  When when = When::kAlways;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_MISSING_DEFAULT_H_
