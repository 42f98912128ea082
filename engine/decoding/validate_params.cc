#include "engine/decoding/validate_params.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr int kMaxTopLogProbs = 20;
constexpr int kMaxNgram = 1000;
// The model's own entries count too, so these are above what a request may ask.
constexpr int kMaxBadWords = 4096;
constexpr int kMaxBadWordTokens = 64;
constexpr int kMaxEndIds = 64;
constexpr int kMaxStopStrings = 16;
constexpr int kMaxStopStringBytes = 256;

absl::Status CheckInt(absl::string_view field, int64_t value, int64_t low,
                      int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s is %d, must be in [%d, %d]", field, value, low, high));
}

// NaN and infinities are in no range.
absl::Status CheckFloat(absl::string_view field, float value, float low,
                        float high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s is %g, must be in [%g, %g]", field, value, low, high));
}

absl::Status CheckPositive(absl::string_view field, float value, float high) {
  if (value > 0 && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is %g, must be in (0, %g]", field, value, high));
}

absl::Status CheckId(absl::string_view field, int id, int vocab) {
  if (id >= 0 && id < vocab) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s has token id %d, the vocabulary has %d", field, id, vocab));
}

absl::Status CheckIds(absl::string_view field, absl::Span<const int> ids,
                      int vocab) {
  for (int id : ids) RETURN_IF_ERROR(CheckId(field, id, vocab));
  return absl::OkStatus();
}

absl::Status CheckOptionalId(absl::string_view field, int id, int vocab) {
  return id == -1 ? absl::OkStatus() : CheckId(field, id, vocab);
}

absl::Status CheckCount(absl::string_view field, size_t count, size_t limit) {
  if (count <= limit) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has %d entries, limit is %d", field, count, limit));
}

absl::Status CheckLengths(const GenerationParams& params, int max_target) {
  const int64_t known = 1 + static_cast<int64_t>(params.forced_prefix.size());
  if (known >= max_target) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "forced_prefix has %d tokens, limit is %d: decoder start, prefix and "
        "one new token must fit in %d (max_target_tokens)",
        params.forced_prefix.size(), max_target - 2, max_target));
  }
  RETURN_IF_ERROR(
      CheckInt("max_new_tokens", params.max_new_tokens, 1, max_target - known));
  return CheckInt("min_new_tokens", params.min_new_tokens, 0,
                  params.max_new_tokens);
}

absl::Status CheckBeams(const GenerationParams& params,
                        const DecodingLimits& limits) {
  RETURN_IF_ERROR(CheckInt("num_beams", params.num_beams, 1, limits.max_beams));
  const int results = params.num_return_sequences;
  RETURN_IF_ERROR(
      CheckInt("num_return_sequences", results, 1, limits.max_beams));
  if (params.do_sample && params.num_beams > 1) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "num_beams is %d, must be 1 with do_sample", params.num_beams));
  }
  if (!params.do_sample && results > params.num_beams) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "num_return_sequences is %d, limit is num_beams (%d) without do_sample",
        results, params.num_beams));
  }
  const size_t ends = params.eos_ids.size() + params.stop_ids.size();
  if (params.num_beams > 1 &&
      std::max<size_t>(2, 1 + ends) > static_cast<size_t>(limits.vocab)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "eos_ids and stop_ids are %d, too many for beam search over a "
        "vocabulary of %d",
        ends, limits.vocab));
  }
  RETURN_IF_ERROR(CheckFloat("length_penalty", params.length_penalty, -10, 10));
  return CheckInt("early_stopping", static_cast<int>(params.early_stopping), 0,
                  static_cast<int>(EarlyStopping::kNever));
}

absl::Status CheckSampling(const GenerationParams& params) {
  RETURN_IF_ERROR(CheckPositive("temperature", params.temperature, 100));
  RETURN_IF_ERROR(CheckInt("top_k", params.top_k, 0, INT32_MAX));
  RETURN_IF_ERROR(CheckPositive("top_p", params.top_p, 1));
  return CheckFloat("min_p", params.min_p, 0, 1);
}

absl::Status CheckPenalties(const GenerationParams& params) {
  RETURN_IF_ERROR(
      CheckPositive("repetition_penalty", params.repetition_penalty, 100));
  RETURN_IF_ERROR(
      CheckFloat("presence_penalty", params.presence_penalty, -100, 100));
  RETURN_IF_ERROR(
      CheckFloat("frequency_penalty", params.frequency_penalty, -100, 100));
  return CheckInt("no_repeat_ngram_size", params.no_repeat_ngram_size, 0,
                  kMaxNgram);
}

absl::Status CheckBadWords(const GenerationParams& params, int vocab) {
  RETURN_IF_ERROR(
      CheckCount("bad_words", params.bad_words.size(), kMaxBadWords));
  for (const std::vector<int>& word : params.bad_words) {
    RETURN_IF_ERROR(CheckInt("tokens of a bad_words entry", word.size(), 1,
                             kMaxBadWordTokens));
    RETURN_IF_ERROR(CheckIds("bad_words", word, vocab));
  }
  return absl::OkStatus();
}

absl::Status CheckStops(const GenerationParams& params, int vocab) {
  RETURN_IF_ERROR(CheckCount("eos_ids", params.eos_ids.size(), kMaxEndIds));
  RETURN_IF_ERROR(CheckIds("eos_ids", params.eos_ids, vocab));
  RETURN_IF_ERROR(CheckCount("stop_ids", params.stop_ids.size(), kMaxEndIds));
  RETURN_IF_ERROR(CheckIds("stop_ids", params.stop_ids, vocab));
  RETURN_IF_ERROR(
      CheckCount("stop_strings", params.stop_strings.size(), kMaxStopStrings));
  for (const std::string& text : params.stop_strings) {
    RETURN_IF_ERROR(CheckInt("bytes of a stop_strings entry", text.size(), 1,
                             kMaxStopStringBytes));
  }
  return absl::OkStatus();
}

absl::Status CheckTopLogProbs(int top_log_probs, int vocab) {
  return CheckInt("top_log_probs", top_log_probs, 0,
                  std::min(kMaxTopLogProbs, vocab));
}

}  // namespace

absl::Status ValidateParams(const GenerationParams& params,
                            const DecodingLimits& limits) {
  RETURN_IF_ERROR(CheckLengths(params, limits.max_target_tokens));
  RETURN_IF_ERROR(CheckBeams(params, limits));
  RETURN_IF_ERROR(CheckSampling(params));
  RETURN_IF_ERROR(CheckPenalties(params));
  RETURN_IF_ERROR(CheckBadWords(params, limits.vocab));
  RETURN_IF_ERROR(CheckStops(params, limits.vocab));
  RETURN_IF_ERROR(
      CheckIds("forced_prefix", params.forced_prefix, limits.vocab));
  RETURN_IF_ERROR(
      CheckId("decoder_start_id", params.decoder_start_id, limits.vocab));
  RETURN_IF_ERROR(CheckOptionalId("pad_id", params.pad_id, limits.vocab));
  RETURN_IF_ERROR(
      CheckOptionalId("forced_bos_id", params.forced_bos_id, limits.vocab));
  RETURN_IF_ERROR(
      CheckOptionalId("forced_eos_id", params.forced_eos_id, limits.vocab));
  return CheckTopLogProbs(params.top_log_probs, limits.vocab);
}

absl::Status ValidateTarget(absl::Span<const int> target, int top_log_probs,
                            int known, const DecodingLimits& limits) {
  // The last one is never computed.
  RETURN_IF_ERROR(CheckInt("target tokens", target.size(), 1,
                           limits.max_target_tokens - known + 1));
  RETURN_IF_ERROR(CheckIds("target", target, limits.vocab));
  return CheckTopLogProbs(top_log_probs, limits.vocab);
}

}  // namespace attend
