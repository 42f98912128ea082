#ifndef ATTEND_SERVER_SERVICE_TOKEN_SPANS_H_
#define ATTEND_SERVER_SERVICE_TOKEN_SPANS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "attend/v1/attend.pb.h"
#include "engine/tokenizer/text/encoding.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// Labels of the tokens of a text, from which labels of spans are made.
struct LabelledText {
  absl::string_view text;
  absl::Span<const int> ids;              // [tokens]
  absl::Span<const TokenOrigin> origins;  // [tokens]
  absl::Span<const float> logits;         // [tokens, labels]
  absl::Span<const std::string> labels;   // names
};

// The spans that the token-classification pipeline of transformers finds, with
// this `aggregation_strategy` and these `ignore_labels`. The text of a span is
// that part of the text itself, not what the tokens are decoded to.
//
// A token continues a word if its spelling has another length than its text,
// where the tokenizer marks such tokens (WordPiece). With other tokenizers it
// does where no space is before it.
std::vector<v1::LabelSpan> FindSpans(const LabelledText& from,
                                     v1::Aggregation aggregation,
                                     absl::Span<const std::string> ignored,
                                     const Tokenizer& tokenizer);

// Merges the spans of the windows of one text, as the same pipeline does with a
// stride: of spans that overlap, the longest in characters stays, of equally
// long ones that with the highest score. Returns them in the order of the text.
std::vector<v1::LabelSpan> MergeOverlaps(std::vector<v1::LabelSpan> spans);

// `ignore_labels` of a request, without the empty one that stands for none.
std::vector<std::string> IgnoredLabels(const v1::ClassifyRequest& request);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_TOKEN_SPANS_H_
