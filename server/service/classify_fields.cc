#include "server/service/classify_fields.h"

#include "absl/strings/str_format.h"

namespace attend {

absl::Status CheckClassifyFields(const v1::ClassifyRequest& request,
                                 const ModelInfo& model) {
  if (request.top_k() < 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("top_k is %d, must be 0 or more", request.top_k()));
  }
  if (!v1::Aggregation_IsValid(request.aggregation())) {
    return absl::InvalidArgumentError(
        absl::StrFormat("aggregation is %d, must be in [%d, %d]",
                        static_cast<int>(request.aggregation()),
                        static_cast<int>(v1::Aggregation_MIN),
                        static_cast<int>(v1::Aggregation_MAX)));
  }
  const bool spans = request.aggregation() != v1::AGGREGATION_UNSPECIFIED;
  if (spans && !model.labels_tokens) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "aggregation is set, but model '%s' labels no tokens", model.name));
  }
  if (spans && (request.top_k() > 0 || request.raw_scores())) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s is set, must be unset with aggregation",
                        request.top_k() > 0 ? "top_k" : "raw_scores"));
  }
  if (!spans && request.ignore_labels_size() > 0) {
    return absl::InvalidArgumentError(
        "ignore_labels is set, must be unset without aggregation");
  }
  if (request.has_stride() && request.aggregation() <= v1::AGGREGATION_NONE) {
    return absl::InvalidArgumentError(
        "stride is set, must be unset without aggregation and with "
        "AGGREGATION_NONE");
  }
  if (request.candidate_labels_size() == 0 &&
      (!request.hypothesis_template().empty() || request.multi_label())) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s is set, must be unset without candidate_labels",
        request.multi_label() ? "multi_label" : "hypothesis_template"));
  }
  return absl::OkStatus();
}

}  // namespace attend
