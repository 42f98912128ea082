#include "engine/families/shared/drop_decoder.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "engine/families/shared/tensor_names.h"

namespace attend {

void DropDecoder(Family& family) {
  std::vector<NameRow> rows;
  rows.reserve(family.names.rows.size());
  for (NameRow& row : family.names.rows) {
    if (absl::StartsWith(row.slot, "decoder.") ||
        absl::StartsWith(row.slot, "logits.")) {
      AddUnused({""}, row.tensors, family.names);
    } else {
      rows.push_back(std::move(row));
    }
  }
  family.names.rows = std::move(rows);
  TransformerSpec encoder;
  encoder.hidden = family.spec.hidden;
  encoder.encoder = std::move(family.spec.encoder);
  encoder.embed = std::move(family.spec.embed);
  family.spec = std::move(encoder);
}

}  // namespace attend
