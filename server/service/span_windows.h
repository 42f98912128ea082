#ifndef ATTEND_SERVER_SERVICE_SPAN_WINDOWS_H_
#define ATTEND_SERVER_SERVICE_SPAN_WINDOWS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/service/call_context.h"
#include "server/service/window_list.h"

namespace attend {

// The texts of a Classify call with `stride`, which are read in windows, and
// the spans that are found in the windows, as the token-classification pipeline
// of transformers finds them.
class SpanWindows {
 public:
  // INVALID_ARGUMENT if `stride` is out of range. `info` and `tokenizer` must
  // outlive the SpanWindows.
  static absl::StatusOr<SpanWindows> Create(const v1::ClassifyRequest& request,
                                            const ModelInfo& info,
                                            const Tokenizer& tokenizer);

  // Reads more texts of the request, some milliseconds' worth of them. Returns
  // true if all are read. An error ends the call.
  absl::StatusOr<bool> Read(const v1::ClassifyRequest& request,
                            const CallContext& context);
  const WindowList& list() const { return list_; }
  // The source of an input, or why its text could not be read.
  absl::StatusOr<SourceTokens> Tokens(int input) const;
  // Finds the spans of a text. `logits_of` has the logits of its windows.
  std::vector<v1::LabelSpan> Spans(
      int text, v1::Aggregation aggregation,
      absl::Span<const std::string> ignored,
      absl::FunctionRef<absl::Span<const float>(int window)> logits_of) const;

 private:
  SpanWindows(WindowSize size, const ModelInfo& info,
              const Tokenizer& tokenizer)
      : size_(size), info_(&info), tokenizer_(&tokenizer) {}
  absl::StatusOr<TextWindows> ReadText(const v1::Input& input, int index) const;

  WindowSize size_;
  const ModelInfo* info_;
  const Tokenizer* tokenizer_;
  WindowList list_;
  std::vector<std::string> texts_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_SPAN_WINDOWS_H_
