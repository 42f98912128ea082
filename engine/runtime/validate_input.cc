#include "engine/runtime/validate_input.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::Status CheckIds(const char* input, absl::Span<const int> ids,
                      const ModelInfo& info) {
  const int count = static_cast<int>(ids.size());
  if (count < 1 || count > info.max_source_tokens) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s has %d tokens, limits are 1 and %d (max_source_tokens)", input,
        count, info.max_source_tokens));
  }
  for (const int id : ids) {
    if (id < 0 || id >= info.source_vocab) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s token id is %d, limits are 0 and %d", input, id,
                          info.source_vocab - 1));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTypes(const SourceTokens& source, int token_types) {
  if (source.types.empty()) return absl::OkStatus();
  if (source.types.size() != source.ids.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("source has %d tokens but %d token types",
                        source.ids.size(), source.types.size()));
  }
  const int most = std::max(token_types - 1, 0);
  for (const int type : source.types) {
    if (type < 0 || type > most) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "source token type is %d, limits are 0 and %d", type, most));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPositions(const SourceTokens& source, int max_positions) {
  if (source.positions.empty()) return absl::OkStatus();
  if (source.positions.size() != source.ids.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("source has %d tokens but %d positions",
                        source.ids.size(), source.positions.size()));
  }
  int least = 0;
  for (const int position : source.positions) {
    if (position < least || position >= max_positions) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "source position is %d, limits are %d and %d (positions ascend)",
          position, least, max_positions - 1));
    }
    least = position + 1;
  }
  return absl::OkStatus();
}

// A decoder reads its tokens one after the other. Where the first one stands
// makes no difference.
absl::Status CheckNoHoles(const SourceTokens& source) {
  for (size_t i = 1; i < source.positions.size(); ++i) {
    if (source.positions[i] == source.positions[i - 1] + 1) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "source position is %d after %d: the model's decoder reads no source "
        "with holes in its mask",
        source.positions[i], source.positions[i - 1]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateInput(const EngineInput& input, const ModelInfo& info,
                           const TransformerSpec& spec) {
  if (const auto* prompt = std::get_if<Prompt>(&input)) {
    if (spec.encoder) {
      return absl::InvalidArgumentError(
          "the model has an encoder, but the request has a prompt");
    }
    return CheckIds("prompt", prompt->ids, info);
  }
  if (!spec.encoder && spec.generates) {
    return absl::InvalidArgumentError(
        "the model has no encoder, but the request has a source");
  }
  const SourceTokens& source = std::get<SourceTokens>(input);
  RETURN_IF_ERROR(CheckIds("source", source.ids, info));
  RETURN_IF_ERROR(CheckTypes(source, info.token_types));
  RETURN_IF_ERROR(CheckPositions(source, spec.SourceEmbedding().max_positions));
  return spec.encoder ? absl::OkStatus() : CheckNoHoles(source);
}

}  // namespace attend
