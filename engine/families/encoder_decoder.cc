// EncoderDecoderModel of transformers: Rothe et al. 2020. An encoder, and a
// decoder that has the layers of one and cross-attention.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/families/encoder_as_decoder.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Puts `prefix` before the names of all tensors.
void Prefix(absl::string_view prefix, NameTable& names) {
  for (NameRow& row : names.rows) {
    for (std::string& tensor : row.tensors) {
      tensor.insert(0, prefix.data(), prefix.size());
    }
  }
  for (std::string& tensor : names.unused) {
    tensor.insert(0, prefix.data(), prefix.size());
  }
}

absl::StatusOr<Family> LoadEncoder(const JsonFile& section) {
  ASSIGN_OR_RETURN(const std::string name, section.String("model_type"));
  // No stacks within stacks, however deep a file nests them.
  if (name == "encoder-decoder" || name == "encoder_decoder") {
    return section.Unexpected("model_type", "that of an encoder");
  }
  // The class is that of a model which the encoder was taken from.
  ASSIGN_OR_RETURN(const JsonFile without_head,
                   JsonFile::Parse(section.path(), R"({"architectures": []})"));
  ASSIGN_OR_RETURN(Family family,
                   LoadFamily(without_head.WithFallback(section)));
  if (!family.spec.encoder || family.spec.decoder) {
    return section.Unexpected("model_type", "that of an encoder");
  }
  Prefix("encoder.", family.names);
  return family;
}

// Both stacks have one set of weights, of which files may hold one copy.
void TieStacks(NameTable& encoder, NameTable& decoder) {
  for (NameRow& source : encoder.rows) {
    for (NameRow& target : decoder.rows) {
      if (DecoderSlot(source.slot) != target.slot) continue;
      const std::vector<std::string> own = source.tensors;
      source.tensors.insert(source.tensors.end(), target.tensors.begin(),
                            target.tensors.end());
      target.tensors.insert(target.tensors.end(), own.begin(), own.end());
    }
  }
}

}  // namespace

absl::StatusOr<Family> LoadEncoderDecoder(const JsonFile& config) {
  RETURN_IF_ERROR(Architecture(config, {"EncoderDecoderModel"}).status());
  RETURN_IF_ERROR(ExpectFlags(config, {"is_encoder_decoder"}, true));
  RETURN_IF_ERROR(ExpectFlags(config, {"is_decoder"}, false));
  ASSIGN_OR_RETURN(const JsonFile source, config.Object("encoder"));
  ASSIGN_OR_RETURN(const JsonFile target, config.Object("decoder"));
  ASSIGN_OR_RETURN(Family encoder, LoadEncoder(source));
  ASSIGN_OR_RETURN(Family family, LoadCrossDecoder(target));
  Prefix("decoder.", family.names);
  if (encoder.spec.hidden != family.spec.hidden) {
    return target.Unexpected(
        "hidden_size",
        absl::StrCat("that of the encoder, ", encoder.spec.hidden));
  }
  family.spec.encoder = std::move(encoder.spec.encoder);
  // transformers before 5 can tie the stacks.
  ASSIGN_OR_RETURN(const bool tied,
                   config.BoolOr("tie_encoder_decoder", false));
  if (tied) TieStacks(encoder.names, family.names);
  NameTable& names = family.names;
  names.rows.insert(names.rows.end(), encoder.names.rows.begin(),
                    encoder.names.rows.end());
  names.unused.insert(names.unused.end(), encoder.names.unused.begin(),
                      encoder.names.unused.end());
  return family;
}

}  // namespace attend
