#ifndef ATTEND_SERVER_OPENAI_RECIPIENT_CALLS_H_
#define ATTEND_SERVER_OPENAI_RECIPIENT_CALLS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/openai/call_syntax.h"
#include "server/openai/tools.h"

namespace attend {

// Functionary v3.2 writes parts, with kRecipientMark in between: the recipient,
// a line end, and what it gets. A function gets arguments; what all get is
// text.
inline constexpr absl::string_view kRecipientMark = ">>>";
inline constexpr absl::string_view kToAll = "all\n";

// Takes the call off that `text`, at the beginning of a part, begins with, and
// the white space behind it. None: there is no call, or no whole one.
std::optional<ToolCall> TakeRecipientCall(const std::vector<Tool>& tools,
                                          std::string& text);

// Tells whether more text may make a call, or a text for all, of `text`.
bool MayBeRecipient(const std::vector<Tool>& tools, absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_RECIPIENT_CALLS_H_
