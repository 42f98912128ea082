#include "engine/families/shared/sequence_summary.h"

#include <string>

#include "absl/status/statusor.h"
#include "engine/families/shared/config_fields.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/spec.h"

namespace attend {
namespace {

absl::StatusOr<Pooling> SummaryPooling(const JsonFile& config,
                                       absl::string_view fallback) {
  constexpr char kKey[] = "summary_type";
  ASSIGN_OR_RETURN(const std::string type, config.StringOr(kKey, fallback));
  if (type == "first") return Pooling::kCls;
  if (type == "mean") return Pooling::kMean;
  // "cls_index" is the last token unless a caller of the model says otherwise.
  if (type == "last" || type == "cls_index") return Pooling::kLast;
  return config.Unexpected(kKey, "one of first, last, mean, cls_index");
}

}  // namespace

absl::Status ReadSequenceSummary(const JsonFile& config, int hidden,
                                 const SummaryDefaults& defaults,
                                 UsualHeads& heads) {
  ASSIGN_OR_RETURN(heads.choice_pooling, SummaryPooling(config, defaults.type));
  ASSIGN_OR_RETURN(const bool projects,
                   config.BoolOr("summary_use_proj", defaults.projects));
  RETURN_IF_ERROR(ExpectFlags(config, {"summary_proj_to_labels"}, false));
  constexpr char kActivation[] = "summary_activation";
  // null and "" are no activation, whatever the default is.
  ASSIGN_OR_RETURN(const std::string activation,
                   config.IsNull(kActivation)
                       ? absl::StatusOr<std::string>("")
                       : config.StringOr(kActivation, defaults.activation));
  heads.choice.clear();
  if (projects) {
    HeadLayer summary = {"sequence_summary.summary", {hidden}};
    if (!activation.empty()) {
      ASSIGN_OR_RETURN(summary.spec.activation,
                       ActivationNamed(config, kActivation, activation));
    }
    heads.choice.push_back(summary);
  } else if (!activation.empty()) {
    return config.Unexpected(kActivation, "null without summary_use_proj");
  }
  heads.choice.push_back({"classifier", {1}});
  return absl::OkStatus();
}

}  // namespace attend
