#ifndef ATTEND_ENGINE_API_GENERATION_LIMITS_H_
#define ATTEND_ENGINE_API_GENERATION_LIMITS_H_

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/api/generation_params.h"

namespace attend {

// What GenerationParams may hold, whatever the model: of its own files, of a
// request, and of what reaches a search. Whoever knows the model checks what
// depends on it: ids, and lengths and beams where it allows fewer.

// A number, in [lowest, highest]. Not a number is in no range.
template <class T>
struct FieldLimits {
  const char* name;  // of a request's field, and in generation_config.json
  T GenerationParams::*field;
  T lowest;
  T highest;
  bool above_lowest = false;  // the lowest is not one of them
  bool in_file = true;        // generation_config.json may set it

  bool Allow(T value) const {
    return value >= lowest && value <= highest &&
           !(above_lowest && value == lowest);
  }
};

// Tokens of a sequence are counted in ints, decoder start included.
inline constexpr int kMaxNewTokens = std::numeric_limits<int>::max() - 1;
// Rows of a request in a step, each a beam or a sample.
inline constexpr int kMaxBeams = 128;

inline constexpr FieldLimits<int> kIntLimits[] = {
    {"max_new_tokens", &GenerationParams::max_new_tokens, 1, kMaxNewTokens},
    {"min_new_tokens", &GenerationParams::min_new_tokens, 0, kMaxNewTokens},
    {"num_beams", &GenerationParams::num_beams, 1, kMaxBeams},
    {"num_return_sequences", &GenerationParams::num_return_sequences, 1,
     kMaxBeams},
    {"top_k", &GenerationParams::top_k, 0, std::numeric_limits<int>::max()},
    {"no_repeat_ngram_size", &GenerationParams::no_repeat_ngram_size, 0, 1000},
    {"top_log_probs", &GenerationParams::top_log_probs, 0, 20, false, false},
};

inline constexpr FieldLimits<float> kFloatLimits[] = {
    {"length_penalty", &GenerationParams::length_penalty, -10, 10},
    {"temperature", &GenerationParams::temperature, 0, 100, true},
    {"top_p", &GenerationParams::top_p, 0, 1, true},
    {"min_p", &GenerationParams::min_p, 0, 1},
    {"repetition_penalty", &GenerationParams::repetition_penalty, 0, 100, true},
    {"presence_penalty", &GenerationParams::presence_penalty, -100, 100, false,
     false},
    {"frequency_penalty", &GenerationParams::frequency_penalty, -100, 100,
     false, false},
};

// How long a list, or an entry of one, may be. Of lists that a request adds to,
// the model's own entries count too.
struct SizeLimits {
  const char* unit;
  int lowest;
  int highest;

  // INVALID_ARGUMENT names the field, its size and the limits.
  absl::Status Check(absl::string_view field, size_t size) const;
};

inline constexpr SizeLimits kBadWords = {"entries", 0, 4096};
inline constexpr SizeLimits kBadWordTokens = {"tokens", 1, 64};
inline constexpr SizeLimits kEndIds = {"entries", 0, 64};
inline constexpr SizeLimits kStopStrings = {"entries", 0, 16};
inline constexpr SizeLimits kStopStringBytes = {"bytes", 1, 256};

// INVALID_ARGUMENT names the first field out of its limits, with `prefix`
// before its name, its value and the limits.
absl::Status CheckLimits(const GenerationParams& params,
                         absl::string_view prefix = "");
// The same of this field alone, which is not for generation only.
absl::Status CheckTopLogProbs(int count, absl::string_view prefix = "");

}  // namespace attend

#endif  // ATTEND_ENGINE_API_GENERATION_LIMITS_H_
