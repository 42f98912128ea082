#include "server/service/span_windows.h"

#include <cstddef>

#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/encode_within.h"
#include "server/service/token_spans.h"
#include "server/service/work_pool.h"

namespace attend {
namespace {

// Each text is tokenised as a whole, so that its windows end where tokens do.
constexpr size_t kMaxWindowedBytes = kMinCutLimit;

}  // namespace

absl::StatusOr<SpanWindows> SpanWindows::Create(
    const v1::ClassifyRequest& request, const ModelInfo& info,
    const Tokenizer& tokenizer) {
  if (request.stride() < 0 || request.stride() >= info.max_text_tokens) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "stride is %d, must be in [0, %d): windows have %d tokens, special "
        "ones included (max_text_tokens)",
        request.stride(), info.max_text_tokens, info.max_text_tokens));
  }
  return SpanWindows(
      {.tokens = info.max_text_tokens, .overlap = request.stride()}, info,
      tokenizer);
}

absl::StatusOr<bool> SpanWindows::Read(const v1::ClassifyRequest& request,
                                       const CallContext& context) {
  size_t bytes = 0;
  while (list_.texts() < request.inputs_size()) {
    if (bytes >= kShortWork) return false;
    RETURN_IF_ERROR(context.CheckStart());
    const int index = list_.texts();
    const v1::Input& input = request.inputs(index);
    list_.Add(ReadText(input, index));
    texts_.push_back(input.text());
    bytes += input.text().size();
  }
  return true;
}

absl::StatusOr<TextWindows> SpanWindows::ReadText(const v1::Input& input,
                                                  int index) const {
  const std::string field = absl::StrFormat("inputs[%d]", index);
  if (!input.has_text() || input.has_pair()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s must be one text, because aggregation is set", field));
  }
  if (input.text().size() > kMaxWindowedBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s.text has %d bytes, limit is %d", field,
                        input.text().size(), kMaxWindowedBytes));
  }
  return TextWindows::OfText(input.text(), size_, info_->adds_special,
                             *tokenizer_, field + ".text");
}

absl::StatusOr<SourceTokens> SpanWindows::Tokens(int input) const {
  const auto [text, window] = list_.At(input);
  const absl::StatusOr<TextWindows>& windows = list_.of(text);
  RETURN_IF_ERROR(windows.status());
  const bool types = info_->token_types >= 2 && tokenizer_->has_token_types();
  return windows->Tokens(window, types);
}

std::vector<v1::LabelSpan> SpanWindows::Spans(
    int text, v1::Aggregation aggregation,
    absl::Span<const std::string> ignored,
    absl::FunctionRef<absl::Span<const float>(int window)> logits_of) const {
  const TextWindows& windows = *list_.of(text);
  std::vector<v1::LabelSpan> spans;
  for (int i = 0; i < windows.size(); ++i) {
    const std::vector<int> ids = windows.Tokens(i, false).ids;
    const std::vector<TokenOrigin> origins = windows.Origins(i);
    for (v1::LabelSpan& span : FindSpans({.text = texts_[text],
                               .ids = ids,
                               .origins = origins,
                               .logits = logits_of(i),
                               .labels = info_->labels},
                                         aggregation, ignored, *tokenizer_)) {
      spans.push_back(std::move(span));
    }
  }
  return windows.size() > 1 ? MergeOverlaps(std::move(spans)) : spans;
}

}  // namespace attend
