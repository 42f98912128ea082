#include "engine/tokenizer/text/ids_only.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace attend {

// Clients see this error.
absl::Status IdsOnly::NoTokenizer() const {
  return absl::InvalidArgumentError(absl::StrCat(
      "the model has no tokenizer", reason_.empty() ? "" : " (", reason_,
      reason_.empty() ? "" : ")", ", so it takes and gives token ids only"));
}

absl::StatusOr<Encoding> IdsOnly::Encode(const EncodeInput&) const {
  return NoTokenizer();
}

absl::StatusOr<std::string> IdsOnly::Decode(absl::Span<const int>, Side,
                                            bool) const {
  return NoTokenizer();
}

}  // namespace attend
