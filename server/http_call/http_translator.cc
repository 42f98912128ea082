#include "server/http_call/http_translator.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/http_call/http_status.h"

namespace attend {
namespace {

constexpr char kTimeoutHeader[] = "X-Request-Timeout";
constexpr double kMaxTimeoutSeconds = 366 * 86400.0;

bool IsOfName(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; }

// The name that stands at the beginning of `text`, as a whole word; null: none.
const std::pair<absl::string_view, absl::string_view>* NameAt(
    absl::string_view text, FieldNames names) {
  for (const auto& name : names) {
    if (!absl::StartsWith(text, name.first)) continue;
    const size_t end = name.first.size();
    if (end == text.size() || !IsOfName(text[end])) return &name;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<absl::Duration> HttpTranslator::ReadHead(
    const HttpRequest& head) {
  const auto coding = head.Header("Content-Encoding");
  if (coding && !absl::EqualsIgnoreCase(*coding, "identity")) {
    return FieldError("Content-Encoding",
                      "must be absent: bodies are not compressed here");
  }
  const auto header = head.Header(kTimeoutHeader);
  if (!header) return absl::InfiniteDuration();
  double seconds = 0;
  if (!absl::SimpleAtod(*header, &seconds) ||
      !(seconds > 0 && seconds <= kMaxTimeoutSeconds)) {
    return FieldError(kTimeoutHeader,
                      "must be once, a number of seconds above 0");
  }
  return absl::Seconds(seconds);
}

void HttpTranslator::AppendError(const absl::Status&, absl::string_view body,
                                 std::string& text) {
  absl::StrAppend(&text, "data: ", body, "\n\n");
}

absl::Status HttpTranslator::Rename(const absl::Status& status) const {
  return RenameFields(status, field_names());
}

absl::Status RenameFields(const absl::Status& status, FieldNames names) {
  if (status.ok() || names.empty()) return status;
  std::string message, first;
  absl::string_view rest = status.message();
  char before = ' ';
  while (!rest.empty()) {
    const auto* name = IsOfName(before) ? nullptr : NameAt(rest, names);
    const absl::string_view taken =
        name == nullptr ? rest.substr(0, 1) : name->first;
    absl::StrAppend(&message, name == nullptr ? taken : name->second);
    if (name != nullptr && first.empty()) first = std::string(name->second);
    before = taken.back();
    rest.remove_prefix(taken.size());
  }
  absl::Status renamed(status.code(), message);
  if (!first.empty()) renamed.SetPayload(kFieldUrl, absl::Cord(first));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    renamed.SetPayload(url, payload);
  });
  return renamed;
}

}  // namespace attend
