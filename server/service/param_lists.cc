#include "server/service/param_lists.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/api/generation_limits.h"
#include "engine/tensor/status_macros.h"
#include "server/service/request_fields.h"

namespace attend {
namespace {

absl::StatusOr<std::vector<int>> ReadPrefix(const v1::GenerationParams& params,
                                            const ModelInfo& model,
                                            const Tokenizer& tokenizer) {
  if (params.has_prefix_text()) {
    RETURN_IF_ERROR(CheckTextBytes("params.prefix_text",
                                   params.prefix_text().size(),
                                   model.max_target_tokens, tokenizer));
    auto encoding = tokenizer.Encode({.text = params.prefix_text(),
                                      .side = Side::kTarget,
                                      .add_special = false});
    if (!encoding.ok()) {
      return Annotate(encoding.status(), "params.prefix_text");
    }
    return std::move(encoding->ids);
  }
  return ReadTokens(params.prefix_tokens(), model.target_vocab,
                    "params.prefix_tokens");
}

// A bias of one token is a sequence of one token.
absl::Status MergeBiases(const v1::GenerationParams& from,
                         const ModelInfo& model, GenerationParams& to) {
  // A map has no order: entries of one token add up in that of their ids.
  const std::map<int, float> logit_bias(from.logit_bias().begin(),
                                        from.logit_bias().end());
  for (const auto& [id, bias] : logit_bias) {
    if (id < 0 || id >= model.target_vocab) {
      return absl::InvalidArgumentError(
          absl::StrFormat("params.logit_bias has id %d, must be in [0, %d)", id,
                          model.target_vocab));
    }
    if (!(std::abs(bias) <= kMaxBias)) {
      return absl::InvalidArgumentError(
          absl::StrCat("params.logit_bias[", id, "] is ", bias,
                       ", must be in [", -kMaxBias, ", ", kMaxBias, "]"));
    }
    to.sequence_bias.push_back({{id}, bias});
  }
  for (int i = 0; i < from.sequence_bias_size(); ++i) {
    const v1::SequenceBias& entry = from.sequence_bias(i);
    const std::string field = absl::StrFormat("params.sequence_bias[%d]", i);
    ASSIGN_OR_RETURN(std::vector<int> ids,
                     ReadTokens(entry.tokens(), model.target_vocab,
                                absl::StrCat(field, ".tokens")));
    RETURN_IF_ERROR(kSequenceBiasTokens.Check(field, ids.size()));
    to.sequence_bias.push_back({std::move(ids), entry.bias()});
  }
  return absl::OkStatus();
}

absl::Status MergeForceWords(const v1::GenerationParams& from,
                             const ModelInfo& model, GenerationParams& to) {
  for (int i = 0; i < from.force_words_size(); ++i) {
    const std::string field = absl::StrFormat("params.force_words[%d]", i);
    const auto& alternatives = from.force_words(i).alternatives();
    RETURN_IF_ERROR(kForceWordAlternatives.Check(field, alternatives.size()));
    std::vector<std::vector<int>>& word = to.force_words.emplace_back();
    for (int j = 0; j < alternatives.size(); ++j) {
      const std::string name = absl::StrFormat("%s.alternatives[%d]", field, j);
      ASSIGN_OR_RETURN(std::vector<int> ids,
                       ReadTokens(alternatives[j], model.target_vocab, name));
      RETURN_IF_ERROR(kForceWordTokens.Check(name, ids.size()));
      word.push_back(std::move(ids));
    }
  }
  return absl::OkStatus();
}

// Adds the ids of a field to a list of the model.
absl::Status AddIds(const google::protobuf::RepeatedField<int>& ids,
                    const ModelInfo& model, absl::string_view field,
                    std::vector<int>& to) {
  ASSIGN_OR_RETURN(const std::vector<int> added,
                   ReadIds(ids, model.target_vocab, field));
  to.insert(to.end(), added.begin(), added.end());
  return absl::OkStatus();
}

}  // namespace

absl::Status MergeParamLists(const v1::GenerationParams& from,
                             const ModelInfo& model, const Tokenizer& tokenizer,
                             GenerationParams& to) {
  for (int i = 0; i < from.bad_words_size(); ++i) {
    const std::string field = absl::StrFormat("params.bad_words[%d]", i);
    ASSIGN_OR_RETURN(std::vector<int> ids,
                     ReadTokens(from.bad_words(i), model.target_vocab, field));
    RETURN_IF_ERROR(kBadWordTokens.Check(field, ids.size()));
    to.bad_words.push_back(std::move(ids));
  }
  RETURN_IF_ERROR(MergeBiases(from, model, to));
  RETURN_IF_ERROR(MergeForceWords(from, model, to));
  RETURN_IF_ERROR(AddIds(from.suppress_tokens(), model,
                         "params.suppress_tokens", to.suppress_tokens));
  RETURN_IF_ERROR(AddIds(from.begin_suppress_tokens(), model,
                         "params.begin_suppress_tokens",
                         to.begin_suppress_tokens));
  RETURN_IF_ERROR(
      AddIds(from.stop_ids(), model, "params.stop_ids", to.stop_ids));
  for (int i = 0; i < from.stop_strings_size(); ++i) {
    RETURN_IF_ERROR(
        kStopStringBytes.Check(absl::StrFormat("params.stop_strings[%d]", i),
                               from.stop_strings(i).size()));
    to.stop_strings.push_back(from.stop_strings(i));
  }
  if (from.forced_prefix_case() !=
      v1::GenerationParams::FORCED_PREFIX_NOT_SET) {
    ASSIGN_OR_RETURN(to.forced_prefix, ReadPrefix(from, model, tokenizer));
  }
  return absl::OkStatus();
}

}  // namespace attend
