#include "engine/transformer/validate_embedding.h"

#include "engine/tensor/status_macros.h"
#include "engine/transformer/field_checks.h"
#include "engine/transformer/validate_layer.h"

namespace attend {
namespace {

absl::Status CheckPositions(const std::string& at, const EmbeddingSpec& spec,
                            int width) {
  RETURN_IF_ERROR(AtLeast(at + ".max_positions", spec.max_positions, 1));
  RETURN_IF_ERROR(AtLeast(at + ".position_offset", spec.position_offset, 0));
  const bool counts_all = spec.uncounted_id == -1;
  if (spec.positions == Positions::kNone) {
    constexpr char kWhere[] = "where the embedding adds no positions";
    RETURN_IF_ERROR(
        Unset(at + ".position_offset", spec.position_offset > 0, kWhere));
    return Unset(at + ".uncounted_id", !counts_all, kWhere);
  }
  if (spec.positions == Positions::kSinusoidalToEnd &&
      (width < 4 || width % 2 != 0)) {
    return Unexpected(at + ".width", width,
                      "an even number above 2, for the sinusoids");
  }
  if (counts_all) return absl::OkStatus();
  RETURN_IF_ERROR(AtLeast(at + ".uncounted_id", spec.uncounted_id, -1));
  // A token that does not count has the row before that of position 0.
  return AtLeast(at + ".position_offset", spec.position_offset, 1);
}

}  // namespace

absl::Status CheckEmbedding(const std::string& at, const EmbeddingSpec& spec,
                            int hidden) {
  RETURN_IF_ERROR(AtLeast(at + ".vocab", spec.vocab, 1));
  RETURN_IF_ERROR(AtLeast(at + ".width", spec.width, 1));
  RETURN_IF_ERROR(Unset(at + ".projects_tokens",
                        spec.projects_tokens && spec.width == hidden,
                        "where width is that of the model"));
  RETURN_IF_ERROR(Positive(at + ".scale", spec.scale));
  RETURN_IF_ERROR(AtLeast(at + ".token_types", spec.token_types, 0));
  RETURN_IF_ERROR(AtLeast(at + ".task_types", spec.task_types, 0));
  RETURN_IF_ERROR(Unset(at + ".task_types",
                        spec.task_types > 0 && spec.token_types == 0,
                        "without token types"));
  RETURN_IF_ERROR(AtLeast(at + ".dropped_id", spec.dropped_id, -1));
  if (spec.norm) RETURN_IF_ERROR(CheckNorm(at + ".norm", *spec.norm));
  RETURN_IF_ERROR(Unset(at + ".norms_tokens", spec.norms_tokens && !spec.norm,
                        "without a norm"));
  RETURN_IF_ERROR(Unset(at + ".norms_tokens",
                        spec.norms_tokens && spec.width != hidden,
                        "where width is not that of the model"));
  return CheckPositions(at, spec, spec.projects_tokens ? hidden : spec.width);
}

}  // namespace attend
