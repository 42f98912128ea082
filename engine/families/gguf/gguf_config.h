#ifndef ATTEND_ENGINE_FAMILIES_GGUF_GGUF_CONFIG_H_
#define ATTEND_ENGINE_FAMILIES_GGUF_GGUF_CONFIG_H_

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/json/json_file.h"

namespace attend {

// A key of a GGUF file, without the architecture, and the field of config.json
// that says the same.
struct GgufKey {
  const char* key;    // "block_count"
  const char* field;  // "num_hidden_layers"
  bool required = true;
};

// Builds, from the metadata of a GGUF file, what config.json of the model would
// say. One thread.
class GgufConfig {
 public:
  // `file` must outlive this object.
  GgufConfig(const GgufFile& file, absl::string_view architecture)
      : file_(file), architecture_(architecture) {}

  const GgufFile& file() const { return file_; }
  const JsonFile& metadata() const { return file_.metadata(); }
  // "llama.block_count".
  std::string Key(absl::string_view key) const;

  // Copies numbers. INVALID_ARGUMENT if a required key is absent.
  absl::Status Copy(std::initializer_list<GgufKey> keys);
  void Set(const char* field, nlohmann::json value);
  // A number that Copy() or Set() gave a field; an error names `key`.
  absl::StatusOr<int> Number(const char* field, absl::string_view key) const;

  // What Llama and its relatives have: sizes, rotary positions and their
  // scaling. `rotated_heads`: without key_length, a head has as many numbers as
  // are rotated.
  absl::Status CopyLlama(bool rotated_heads,
                         GgufKey epsilon = {"attention.layer_norm_rms_epsilon",
                                            "rms_norm_eps"});
  // Rotary positions and their scaling, once head_dim and
  // max_position_embeddings are set.
  absl::Status CopyRotary();
  // How many rows the table of tokens has, whether it is the one of the logits
  // too, and which tokens begin and end texts.
  absl::Status CopyVocabulary();

  // The values of a small tensor of floats. INVALID_ARGUMENT if it has another
  // count or is not F32.
  absl::StatusOr<nlohmann::json> Floats(absl::string_view tensor,
                                        size_t count) const;

  // The object; errors about its fields name the file. No Set() may follow.
  JsonFile Take();

 private:
  absl::Status CopyHeads(bool rotated_heads);
  absl::Status CopyScaling(absl::string_view type);

  const GgufFile& file_;
  const std::string architecture_;
  nlohmann::json config_ = nlohmann::json::object();
};

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_GGUF_GGUF_CONFIG_H_
