#include "engine/families/shared/decoder_section.h"

#include "absl/status/statusor.h"

namespace attend {

JsonFile WithDecoderSection(const JsonFile& config) {
  for (const char* key : {"decoder", "text_config"}) {
    const absl::StatusOr<JsonFile> section = config.Object(key);
    // FSMT before 5.0 has a section without a model_type, which nothing reads.
    if (section.ok() && section->Has("model_type")) {
      return config.WithFallback(*section);
    }
  }
  return config;
}

}  // namespace attend
