#include "engine/tokenizer/text/ids_only.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace attend {

absl::Status IdsOnly::NoTokenizer() const {
  return absl::FailedPreconditionError(
      absl::StrCat(directory_,
                   " has no tokenizer (tokenizer.json, or *.spm with "
                   "vocab.json): the model takes token ids only"));
}

absl::StatusOr<Encoding> IdsOnly::Encode(const EncodeInput&) const {
  return NoTokenizer();
}

absl::StatusOr<std::string> IdsOnly::Decode(absl::Span<const int>, Side,
                                            bool) const {
  return NoTokenizer();
}

}  // namespace attend
