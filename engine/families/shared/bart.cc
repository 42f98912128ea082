#include "engine/families/shared/bart.h"

#include <optional>

#include "absl/status/status.h"
#include "engine/families/shared/seq2seq_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<Family> LoadBartVariant(const JsonFile& config,
                                       const BartVariant& variant) {
  ASSIGN_OR_RETURN(const std::optional<HeadKind> head,
                   HeadOf(config, variant.classes));
  Family family;
  ASSIGN_OR_RETURN(family.spec, FairseqSpec(config, variant.defaults));
  UseBartEmbeddings(family);
  AddFairseqLogitsBias(family);
  if (head) {
    // A class that labels has no table of logits.
    AddSharedTokens(/*tied=*/true, family.names);
  } else {
    RETURN_IF_ERROR(AddFairseqTokens(config, family));
  }
  AddFairseqLayers(family);
  if (!head) return family;
  RETURN_IF_ERROR(AddSeq2seqHead(config, *head, variant.labels, family));
  family.spec.head->wraps_source = variant.wraps_source;
  return family;
}

}  // namespace attend
