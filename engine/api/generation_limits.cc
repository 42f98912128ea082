#include "engine/api/generation_limits.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

template <class T>
absl::Status Check(const FieldLimits<T>& limits, T value,
                   absl::string_view prefix) {
  if (limits.Allow(value)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(prefix, limits.name, " is ", value, ", must be in ",
                   limits.above_lowest ? "(" : "[", limits.lowest, ", ",
                   limits.highest, "]"));
}

absl::Status CheckBiases(absl::string_view field,
                         const std::vector<SequenceBias>& biases) {
  RETURN_IF_ERROR(kSequenceBiases.Check(field, biases.size()));
  for (const SequenceBias& entry : biases) {
    RETURN_IF_ERROR(kSequenceBiasTokens.Check(absl::StrCat(field, ": an entry"),
                                              entry.tokens.size()));
    if (!(entry.bias >= -kMaxBias && entry.bias <= kMaxBias)) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ": a bias is ", entry.bias, ", must be in [",
                       -kMaxBias, ", ", kMaxBias, "]"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckForceWords(const GenerationParams& params,
                             const std::string& field) {
  RETURN_IF_ERROR(kForceWords.Check(field, params.force_words.size()));
  for (const auto& word : params.force_words) {
    RETURN_IF_ERROR(kForceWordAlternatives.Check(
        absl::StrCat(field, ": an entry"), word.size()));
    for (const std::vector<int>& tokens : word) {
      RETURN_IF_ERROR(kForceWordTokens.Check(
          absl::StrCat(field, ": an alternative"), tokens.size()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLists(const GenerationParams& params,
                        absl::string_view prefix) {
  const auto name = [prefix](absl::string_view field) {
    return absl::StrCat(prefix, field);
  };
  RETURN_IF_ERROR(kBadWords.Check(name("bad_words"), params.bad_words.size()));
  for (const std::vector<int>& word : params.bad_words) {
    RETURN_IF_ERROR(
        kBadWordTokens.Check(name("bad_words: an entry"), word.size()));
  }
  RETURN_IF_ERROR(CheckBiases(name("sequence_bias"), params.sequence_bias));
  RETURN_IF_ERROR(kSuppressTokens.Check(name("suppress_tokens"),
                                        params.suppress_tokens.size()));
  RETURN_IF_ERROR(kSuppressTokens.Check(name("begin_suppress_tokens"),
                                        params.begin_suppress_tokens.size()));
  RETURN_IF_ERROR(CheckForceWords(params, name("force_words")));
  RETURN_IF_ERROR(kEndIds.Check(name("eos_ids"), params.eos_ids.size()));
  RETURN_IF_ERROR(kEndIds.Check(name("stop_ids"), params.stop_ids.size()));
  RETURN_IF_ERROR(
      kStopStrings.Check(name("stop_strings"), params.stop_strings.size()));
  for (const std::string& text : params.stop_strings) {
    RETURN_IF_ERROR(
        kStopStringBytes.Check(name("stop_strings: an entry"), text.size()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SizeLimits::Check(absl::string_view field, size_t size) const {
  if (size >= static_cast<size_t>(lowest) &&
      size <= static_cast<size_t>(highest)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s has %d %s, must be %d to %d", field, size, unit, lowest, highest));
}

absl::Status CheckLimits(const GenerationParams& params,
                         absl::string_view prefix) {
  for (const FieldLimits<int>& limits : kIntLimits) {
    RETURN_IF_ERROR(Check(limits, params.*limits.field, prefix));
  }
  for (const FieldLimits<float>& limits : kFloatLimits) {
    RETURN_IF_ERROR(Check(limits, params.*limits.field, prefix));
  }
  return CheckLists(params, prefix);
}

absl::Status CheckTopLogProbs(int count, absl::string_view prefix) {
  GenerationParams params;
  params.top_log_probs = count;
  return CheckLimits(params, prefix);
}

}  // namespace attend
