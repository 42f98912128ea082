#include "engine/transformer/head_norms.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/load.h"

namespace attend {
namespace {

// Slots "<slot>.<head>.weight" or ".bias", one after the other.
absl::StatusOr<Buffer<float>> ReadByHead(Weights& weights,
                                         const std::string& slot, int heads,
                                         int head_dim, const char* ending) {
  const auto of_head = [&](int head) {
    return absl::StrCat(slot, ".", head, ending);
  };
  Buffer<float> values(static_cast<size_t>(heads) * head_dim);
  for (int head = 0; head < heads; ++head) {
    ASSIGN_OR_RETURN(const auto row,
                     weights.Rows(of_head(head), {1, head_dim}));
    row->Read(
        0, {values.data() + static_cast<size_t>(head) * head_dim, 1, head_dim});
  }
  return values;
}

absl::StatusOr<Norm> LoadNormByHead(Weights& weights, const std::string& slot,
                                    int heads, int head_dim,
                                    const NormSpec& spec) {
  ASSIGN_OR_RETURN(Buffer<float> gamma,
                   ReadByHead(weights, slot, heads, head_dim, ".weight"));
  Buffer<float> beta;
  if (weights.Lists(absl::StrCat(slot, ".0.bias"))) {
    ASSIGN_OR_RETURN(beta, ReadByHead(weights, slot, heads, head_dim, ".bias"));
  }
  if (spec.unit_offset) {
    for (size_t i = 0; i < gamma.size(); ++i) gamma[i] += 1;
  }
  return Norm(std::move(gamma), std::move(beta), spec.epsilon,
              spec.kind == NormKind::kRmsNorm);
}

}  // namespace

absl::StatusOr<std::optional<HeadNorms>> LoadHeadNorms(
    Weights& weights, const std::string& prefix, const AttentionSpec& spec) {
  if (!spec.head_norm) return std::nullopt;
  const auto load = [&](const char* name, int heads) {
    const std::string slot = absl::StrCat(prefix, name);
    if (spec.norm_by_head) {
      return LoadNormByHead(weights, slot, heads, spec.head_dim,
                            *spec.head_norm);
    }
    return LoadNorm(weights, slot,
                    spec.head_dim * (spec.joint_norm ? heads : 1),
                    *spec.head_norm);
  };
  ASSIGN_OR_RETURN(Norm query, load(".q.norm", spec.heads));
  ASSIGN_OR_RETURN(Norm key, load(".k.norm", spec.kv_heads));
  return HeadNorms{std::move(query), std::move(key)};
}

}  // namespace attend
