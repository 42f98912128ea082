#include "engine/families/shared/seq2seq_heads.h"

#include <vector>

#include "engine/families/shared/encoder_heads.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::Status AddSeq2seqHead(const JsonFile& config, HeadKind head, int labels,
                            Family& family) {
  RETURN_IF_ERROR(ReadLabels(config, head, family, labels));
  std::vector<HeadLayer> layers = {{"classifier", {}}};
  if (head == HeadKind::kSpans) layers = {{"qa_outputs", {2}}};
  if (head == HeadKind::kSequence) {
    layers = {
        {"classification_head.dense", {family.spec.hidden, Activation::kTanh}},
        {"classification_head.out_proj", {}}};
  }
  AddHead(head, layers, family);
  family.spec.head->reads_decoder = head != HeadKind::kTokens;
  family.spec.head->reads_end = head == HeadKind::kSequence;
  return absl::OkStatus();
}

}  // namespace attend
