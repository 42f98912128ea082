#include "engine/tokenizer/text/ids_only.h"

#include "absl/status/status.h"

namespace attend {

namespace {

// Clients see this error.
absl::Status NoTokenizer() {
  return absl::InvalidArgumentError(
      "the model has no tokenizer, so it takes and gives token ids only");
}

}  // namespace

absl::StatusOr<Encoding> IdsOnly::Encode(const EncodeInput&) const {
  return NoTokenizer();
}

absl::StatusOr<std::string> IdsOnly::Decode(absl::Span<const int>, Side,
                                            bool) const {
  return NoTokenizer();
}

}  // namespace attend
