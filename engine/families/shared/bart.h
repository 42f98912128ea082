#ifndef ATTEND_ENGINE_FAMILIES_SHARED_BART_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_BART_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/fairseq.h"
#include "engine/families/shared/family.h"
#include "engine/json/json_file.h"

namespace attend {

// The differences between the families that have the embeddings and the heads
// of BART (Lewis et al. 2020).
struct BartVariant {
  FairseqDefaults defaults;
  absl::Span<const HeadClass> classes;
  int labels = 2;  // their number if config.json does not say it
  // See HeadSpec.
  bool wraps_source = false;
};

// The family of config.json, with the head of the class that the file names.
absl::StatusOr<Family> LoadBartVariant(const JsonFile& config,
                                       const BartVariant& variant);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_BART_H_
