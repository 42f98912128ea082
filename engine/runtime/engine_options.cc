#include "engine/runtime/engine_options.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "engine/api/generation_limits.h"
#include "engine/runtime/model_memory.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/activations.h"

namespace attend {
namespace {

// No vocabulary is as large.
constexpr int kMostShortlisted = 1 << 24;

absl::Status CheckRange(const char* name, int64_t value, int64_t low,
                        int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s is %d, limits are %d and %d", name, value, low, high));
}

// Encoders with relative positions have no length of their own; they get more
// positions than this.
constexpr int kLongestOwnLength = 1 << 15;

int DefaultSourceTokens(const TransformerSpec& spec) {
  const int positions = spec.SourceEmbedding().max_positions;
  if (!spec.encoder) return positions - (spec.generates ? 1 : 0);
  if (positions > kLongestOwnLength) return EngineOptions::kEncoderTokens;
  const uint64_t room =
      EngineOptions::kMaxDefaultEncodeBytes / EncodeRowBytes(spec);
  return std::max<int>(EngineOptions::kEncoderTokens,
                       static_cast<int>(std::min<uint64_t>(positions, room)));
}

}  // namespace

KvType DefaultKvType(ComputeType dtype) {
  return dtype == ComputeType::kF32 ? KvType::kF32 : KvType::kInt8;
}

EngineOptions FitOptions(const TransformerSpec& spec, EngineOptions options) {
  const int positions = spec.SourceEmbedding().max_positions;
  // A prompt leaves room for one new token.
  const int most = spec.encoder || !spec.generates ? positions : positions - 1;
  if (options.max_source_tokens == 0) {
    options.max_source_tokens = DefaultSourceTokens(spec);
  }
  options.max_source_tokens = std::min(options.max_source_tokens, most);
  if (!spec.decoder) options.kv_cache_bytes = 0;
  return options;
}

absl::Status EngineOptions::Validate() const {
  RETURN_IF_ERROR(CheckRange("max_batch_tokens", max_step_rows, 16, 1 << 16));
  RETURN_IF_ERROR(
      CheckRange("max_source_tokens", max_source_tokens, 0, 1 << 20));
  RETURN_IF_ERROR(
      CheckRange("shortlist_first", shortlist.first, 0, kMostShortlisted));
  RETURN_IF_ERROR(
      CheckRange("shortlist_best", shortlist.best, 1, kMostShortlisted));
  static_assert(kMaxBeams <= kMaxLogitsRows);
  return CheckRange("max_beams", max_beams, 1, kMaxBeams);
}

}  // namespace attend
