#include "engine/decoding/validate_params.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "engine/api/generation_limits.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::Status CheckAtMost(absl::string_view field, int64_t value,
                         int64_t limit) {
  if (value <= limit) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is %d, limit is %d", field, value, limit));
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

absl::Status CheckLengths(const GenerationParams& params, int known,
                          int max_target) {
  const int64_t prefix = static_cast<int64_t>(params.forced_prefix.size());
  if (known + prefix >= max_target) {
    return absl::InvalidArgumentError(
        absl::StrFormat("forced_prefix has %d tokens, limit is %d: %d earlier "
                        "tokens, the prefix and one new token must fit in %d "
                        "(max_target_tokens)",
                        prefix, max_target - known - 1, known, max_target));
  }
  RETURN_IF_ERROR(CheckAtMost("max_new_tokens", params.max_new_tokens,
                              max_target - known - prefix));
  return CheckAtMost("min_new_tokens", params.min_new_tokens,
                     params.max_new_tokens);
}

absl::Status CheckBeams(const GenerationParams& params,
                        const DecodingLimits& limits) {
  RETURN_IF_ERROR(CheckAtMost("num_beams", params.num_beams, limits.max_beams));
  const int results = params.num_return_sequences;
  RETURN_IF_ERROR(
      CheckAtMost("num_return_sequences", results, limits.max_beams));
  if (params.do_sample && params.num_beams > 1) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "num_beams is %d, must be 1 if do_sample is true", params.num_beams));
  }
  if (!params.do_sample && results > params.num_beams) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "num_return_sequences is %d, limit is num_beams (%d) if do_sample is "
        "false",
        results, params.num_beams));
  }
  const size_t ends = params.eos_ids.size() + params.stop_ids.size();
  if (params.num_beams > 1 &&
      std::max<size_t>(2, 1 + ends) > static_cast<size_t>(limits.vocab)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "eos_ids and stop_ids have %d ids, too many for beam search over a "
        "vocabulary of %d",
        ends, limits.vocab));
  }
  return absl::OkStatus();
}

absl::Status CheckAllIds(const GenerationParams& params, int vocab) {
  for (const std::vector<int>& word : params.bad_words) {
    RETURN_IF_ERROR(CheckIds("bad_words", word, vocab));
  }
  for (const SequenceBias& entry : params.sequence_bias) {
    RETURN_IF_ERROR(CheckIds("sequence_bias", entry.tokens, vocab));
  }
  RETURN_IF_ERROR(CheckIds("suppress_tokens", params.suppress_tokens, vocab));
  RETURN_IF_ERROR(
      CheckIds("begin_suppress_tokens", params.begin_suppress_tokens, vocab));
  RETURN_IF_ERROR(CheckIds("eos_ids", params.eos_ids, vocab));
  RETURN_IF_ERROR(CheckIds("stop_ids", params.stop_ids, vocab));
  RETURN_IF_ERROR(CheckIds("forced_prefix", params.forced_prefix, vocab));
  RETURN_IF_ERROR(CheckId("decoder_start_id", params.decoder_start_id, vocab));
  RETURN_IF_ERROR(CheckOptionalId("pad_id", params.pad_id, vocab));
  RETURN_IF_ERROR(
      CheckOptionalId("forced_bos_id", params.forced_bos_id, vocab));
  return CheckOptionalId("forced_eos_id", params.forced_eos_id, vocab);
}

// Whether `tokens` begins with `beginning`.
bool BeginsWith(absl::Span<const int> tokens, absl::Span<const int> beginning) {
  return tokens.subspan(0, beginning.size()) == beginning;
}

// As in transformers, no alternative of a word may begin with another one.
absl::Status CheckAlternatives(const std::vector<std::vector<int>>& word) {
  for (size_t i = 0; i < word.size(); ++i) {
    for (size_t j = 0; j < word.size(); ++j) {
      if (i == j || !BeginsWith(word[i], word[j])) continue;
      return absl::InvalidArgumentError(absl::StrFormat(
          "force_words: alternative %d of an entry begins with alternative %d",
          i, j));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckForceWords(const GenerationParams& params, int vocab) {
  if (params.force_words.empty()) return absl::OkStatus();
  if (params.num_beams == 1) {
    return absl::InvalidArgumentError(
        "force_words is set, and num_beams is 1, must be above 1");
  }
  if (params.constraint != nullptr || !params.stop_strings.empty()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "force_words is set, and %s too: only one of both is possible",
        params.constraint != nullptr ? "constraint" : "stop_strings"));
  }
  for (const auto& word : params.force_words) {
    for (const std::vector<int>& tokens : word) {
      RETURN_IF_ERROR(CheckIds("force_words", tokens, vocab));
    }
    RETURN_IF_ERROR(CheckAlternatives(word));
  }
  return absl::OkStatus();
}

// A forced token is forced, whatever else there is. transformers has no token
// left here, and takes the first of the vocabulary.
absl::Status CheckForced(absl::string_view field, int id,
                         absl::Span<const int> suppressed) {
  if (std::find(suppressed.begin(), suppressed.end(), id) == suppressed.end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is %d, which is in suppress_tokens too", field, id));
}

}  // namespace

absl::Status ValidateParams(const GenerationParams& params, int known,
                            const DecodingLimits& limits) {
  RETURN_IF_ERROR(CheckLimits(params));
  RETURN_IF_ERROR(CheckLengths(params, known, limits.max_target_tokens));
  RETURN_IF_ERROR(CheckBeams(params, limits));
  RETURN_IF_ERROR(CheckAllIds(params, limits.vocab));
  RETURN_IF_ERROR(CheckForceWords(params, limits.vocab));
  RETURN_IF_ERROR(CheckForced("forced_bos_id", params.forced_bos_id,
                              params.suppress_tokens));
  RETURN_IF_ERROR(CheckForced("forced_eos_id", params.forced_eos_id,
                              params.suppress_tokens));
  return CheckAtMost("top_log_probs", params.top_log_probs, limits.vocab);
}

absl::Status ValidateTarget(absl::Span<const int> target, int top_log_probs,
                            int known, const DecodingLimits& limits) {
  // The row of the last target token is never computed.
  const SizeLimits fits = {"tokens", 1, limits.max_target_tokens - known + 1};
  RETURN_IF_ERROR(fits.Check("target", target.size()));
  RETURN_IF_ERROR(CheckIds("target", target, limits.vocab));
  RETURN_IF_ERROR(CheckTopLogProbs(top_log_probs));
  return CheckAtMost("top_log_probs", top_log_probs, limits.vocab);
}

}  // namespace attend
