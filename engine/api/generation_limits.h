#ifndef ATTEND_ENGINE_API_GENERATION_LIMITS_H_
#define ATTEND_ENGINE_API_GENERATION_LIMITS_H_

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/api/generation_params.h"

namespace attend {

// Limits of GenerationParams that apply to every model: to its files, to
// requests, and to the parameters of a search. Limits that
// depend on the model (ids, lengths, beams) are checked by ValidateParams().

// The range of a field: [lowest, highest], or (lowest, highest]. NaN is in no
// range.
template <class T>
struct FieldLimits {
  const char* name;  // in requests and in generation_config.json
  T GenerationParams::*field;
  T lowest;
  T highest;
  bool above_lowest = false;  // the range is (lowest, highest]
  bool in_file = true;        // generation_config.json may set the field

  bool Allow(T value) const {
    return value >= lowest && value <= highest &&
           !(above_lowest && value == lowest);
  }
};

// The tokens of a sequence, decoder start included, are counted in an int.
inline constexpr int kMaxNewTokens = std::numeric_limits<int>::max() - 1;
// Beams or samples of one request; each is a row of a step.
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

// The bias of an entry of sequence_bias is in [-kMaxBias, kMaxBias].
inline constexpr float kMaxBias = 100;

// Limits of the size of a list or of an entry. If a request adds entries to a
// list of the model, the model's entries count, too.
struct SizeLimits {
  const char* unit;
  int lowest;
  int highest;

  // INVALID_ARGUMENT names the field, its size and the limits.
  absl::Status Check(absl::string_view field, size_t size) const;
};

// Maximum number of alignment weights of a request: results x tokens of the
// longest result x source tokens. They take 64 MiB.
inline constexpr int64_t kMaxAlignmentNumbers = int64_t{1} << 24;

inline constexpr SizeLimits kBadWords = {"entries", 0, 4096};
inline constexpr SizeLimits kBadWordTokens = {"tokens", 1, 64};
inline constexpr SizeLimits kSequenceBiases = {"entries", 0, 4096};
inline constexpr SizeLimits kSequenceBiasTokens = {"tokens", 1, 64};
inline constexpr SizeLimits kSuppressTokens = {"entries", 0, 4096};
inline constexpr SizeLimits kForceWords = {"entries", 0, 64};
inline constexpr SizeLimits kForceWordAlternatives = {"alternatives", 1, 64};
inline constexpr SizeLimits kForceWordTokens = {"tokens", 1, 64};
inline constexpr SizeLimits kEndIds = {"entries", 0, 64};
inline constexpr SizeLimits kStopStrings = {"entries", 0, 16};
inline constexpr SizeLimits kStopStringBytes = {"bytes", 1, 256};

// Checks all fields. INVALID_ARGUMENT names the first field that is out of its
// limits (with `prefix` before the name), its value and the limits.
absl::Status CheckLimits(const GenerationParams& params,
                         absl::string_view prefix = "");
// As CheckLimits() for top_log_probs alone, which ScoreTask has, too.
absl::Status CheckTopLogProbs(int count, absl::string_view prefix = "");

}  // namespace attend

#endif  // ATTEND_ENGINE_API_GENERATION_LIMITS_H_
