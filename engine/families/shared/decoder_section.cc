#include "engine/families/shared/decoder_section.h"

#include "absl/status/statusor.h"

namespace attend {

JsonFile WithDecoderSection(const JsonFile& config) {
  const absl::StatusOr<JsonFile> section = config.Object("decoder");
  // FSMT before 5.0 has a section without a model_type, which nothing reads.
  if (!section.ok() || !section->Has("model_type")) return config;
  return config.WithFallback(*section);
}

}  // namespace attend
