#include "engine/families/family.h"

#include <string>

#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<Family> LoadFamily(const JsonFile& config) {
  ASSIGN_OR_RETURN(const std::string model_type, config.String("model_type"));
  if (model_type == "marian") return LoadMarian(config);
  return config.Unexpected("model_type", "marian");
}

}  // namespace attend
