#ifndef ATTEND_SERVER_INFERENCE_TOKEN_TENSORS_H_
#define ATTEND_SERVER_INFERENCE_TOKEN_TENSORS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"
#include "server/inference/output_tensors.h"

namespace attend {

// Fills rows of ids that are shorter than others; no id of a token.
inline constexpr int32_t kNoId = -1;

// Some tokens, and their log-probabilities and alignment if there are any.
struct TokenRow {
  const google::protobuf::RepeatedField<int32_t>& ids;
  const google::protobuf::RepeatedPtrField<v1::TokenLogProbs>& log_probs;
  const v1::Alignment& alignment = v1::Alignment::default_instance();
};

// Names of outputs; the name of one that does not exist is empty.
struct TokenTensorNames {
  absl::string_view ids = {};
  absl::string_view lengths = {};
  absl::string_view log_probs = {};
  absl::string_view top_ids = {};
  absl::string_view top_log_probs = {};
  absl::string_view alignment = {};
  absl::string_view alignment_weights = {};
};

// Writes rows of different lengths, padded to the longest: ids and alignments
// with kNoId, log-probabilities and weights with 0. `shape` is that of the
// rows: their number is its product.
void WriteTokenRows(const std::vector<TokenRow>& rows, Shape shape,
                    const TokenTensorNames& names, OutputTensors& outputs);

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_TOKEN_TENSORS_H_
