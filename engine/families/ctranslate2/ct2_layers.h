#ifndef ATTEND_ENGINE_FAMILIES_CTRANSLATE2_CT2_LAYERS_H_
#define ATTEND_ENGINE_FAMILIES_CTRANSLATE2_CT2_LAYERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/checkpoint/ctranslate2/ct2_model.h"
#include "engine/families/ctranslate2/ct2_attributes.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// What the layers of a model are made from.
struct Ct2Source {
  const Ct2Model& model;
  const JsonFile& config;
  Ct2Attributes& attributes;
};

// The shape of a matrix that the model must have. INVALID_ARGUMENT names the
// variable, its shape and the range of what is not within its range.
absl::StatusOr<std::vector<int>> Ct2Shape(const Ct2Model& model,
                                          const std::string& name,
                                          IntRange rows, IntRange cols);

// The norm whose variables begin with `name`: without "beta" it is an RMS norm.
absl::StatusOr<NormSpec> Ct2Norm(const Ct2Source& source,
                                 absl::string_view name);

// The layers of a stack, "encoder" or "decoder". A decoder has cross-attention
// where the file has its variables.
absl::StatusOr<std::vector<LayerSpec>> Ct2Layers(const Ct2Source& source,
                                                 const std::string& stack);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_CTRANSLATE2_CT2_LAYERS_H_
