#include "server/service/alignment.h"

#include <cstddef>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"

namespace attend {
namespace {

// The index of the highest weight of a token that is not special; -1: there is
// no such token.
int HighestOf(absl::Span<const float> weights,
              const std::vector<v1::SourceToken>& source) {
  int best = -1;
  for (int i = 0; i < static_cast<int>(weights.size()); ++i) {
    if (source[i].special()) continue;
    if (best < 0 || weights[i] > weights[best]) best = i;
  }
  return best;
}

}  // namespace

absl::Status SourceAlignments::Prepare(v1::Alignments kind, int inputs,
                                       const ModelInfo& model) {
  if (!v1::Alignments_IsValid(kind)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "alignments is %d, must be in [%d, %d]", static_cast<int>(kind),
        static_cast<int>(v1::Alignments_MIN),
        static_cast<int>(v1::Alignments_MAX)));
  }
  if (kind != v1::ALIGNMENTS_NONE && model.continues_source) {
    return absl::InvalidArgumentError(
        absl::StrFormat("alignments is %s, but model '%s' has no encoder",
                        v1::Alignments_Name(kind), model.name));
  }
  kind_ = kind;
  if (wanted()) sources_.resize(inputs);
  return absl::OkStatus();
}

void SourceAlignments::Read(int input, const Source& source,
                            const Tokenizer& tokenizer) {
  if (!wanted()) return;
  std::vector<v1::SourceToken>& tokens = sources_[input];
  tokens.resize(source.tokens.ids.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    FillSourceToken(source, i, tokenizer, tokens[i]);
  }
}

void SourceAlignments::Fill(int input, const ChoiceOutput& choice,
                            v1::Alignment& to) const {
  const std::vector<v1::SourceToken>& source = sources_[input];
  const absl::Span<const float> weights = choice.alignment;
  for (size_t at = 0; at < weights.size(); at += source.size()) {
    to.add_source(HighestOf(weights.subspan(at, source.size()), source));
  }
  if (kind_ == v1::ALIGNMENTS_SOFT) {
    to.mutable_weights()->Add(weights.begin(), weights.end());
  }
}

void SourceAlignments::FillSource(
    int input, google::protobuf::RepeatedPtrField<v1::SourceToken>* to) const {
  if (!wanted()) return;
  to->Add(sources_[input].begin(), sources_[input].end());
}

}  // namespace attend
