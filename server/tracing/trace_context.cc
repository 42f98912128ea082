#include "server/tracing/trace_context.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace attend {
namespace {

constexpr size_t kTraceparentBytes = 55;
constexpr int kMaxMembers = 32;

// The value of a digit; -1: it is none. Capitals are none.
int HexValue(char digit) {
  if (absl::ascii_isdigit(digit)) return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

// False: `text`, of two characters a byte, has others than digits.
template <size_t n>
bool ReadHex(absl::string_view text, std::array<uint8_t, n>& bytes) {
  for (size_t i = 0; i < n; ++i) {
    const int high = HexValue(text[2 * i]);
    const int low = HexValue(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return true;
}

bool IsKeyPart(absl::string_view part, size_t max_bytes, bool may_be_digit) {
  if (part.empty() || part.size() > max_bytes) return false;
  if (!absl::ascii_islower(part[0]) &&
      !(may_be_digit && absl::ascii_isdigit(part[0]))) {
    return false;
  }
  return std::all_of(part.begin(), part.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) ||
           absl::StrContains("_-*/", c);
  });
}

// A name, or the name of a tenant and that of its system.
bool IsKey(absl::string_view key) {
  const size_t at = key.find('@');
  if (at == key.npos) return IsKeyPart(key, 256, false);
  return IsKeyPart(key.substr(0, at), 241, true) &&
         IsKeyPart(key.substr(at + 1), 14, false);
}

bool IsValue(absl::string_view value) {
  return !value.empty() && value.size() <= 256 && value.back() != ' ' &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return absl::ascii_isprint(c) && c != ',' && c != '=';
         });
}

bool IsMember(absl::string_view member) {
  const size_t equals = member.find('=');
  return equals != member.npos && IsKey(member.substr(0, equals)) &&
         IsValue(member.substr(equals + 1));
}

absl::string_view TrimSpaces(absl::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

std::string ToHex(const TraceId& id) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(id.data()), id.size()));
}

std::optional<TraceContext> ParseTraceparent(absl::string_view text) {
  if (text.size() < kTraceparentBytes || text[2] != '-' || text[35] != '-' ||
      text[52] != '-') {
    return std::nullopt;
  }
  TraceContext context;
  std::array<uint8_t, 1> version, flags;
  if (!ReadHex(text, version) || !ReadHex(text.substr(3), context.trace_id) ||
      !ReadHex(text.substr(36), context.span_id) ||
      !ReadHex(text.substr(53), flags)) {
    return std::nullopt;
  }
  if (context.trace_id == TraceId{} || context.span_id == SpanId{} ||
      version[0] == 0xff) {
    return std::nullopt;
  }
  // Later versions may have further fields.
  if (text.size() > kTraceparentBytes &&
      (version[0] == 0 || text[kTraceparentBytes] != '-')) {
    return std::nullopt;
  }
  context.sampled = (flags[0] & 1) != 0;
  return context;
}

void JoinTracestate(absl::string_view value, std::string& joined) {
  absl::StrAppend(&joined, joined.empty() ? "" : ",", value);
}

std::string CleanTracestate(absl::string_view text) {
  std::string clean;
  int members = 0;
  bool full = false;
  for (const absl::string_view padded : absl::StrSplit(text, ',')) {
    const absl::string_view member = TrimSpaces(padded);
    if (member.empty()) continue;
    if (!IsMember(member) || ++members > kMaxMembers) return "";
    const absl::string_view comma = clean.empty() ? "" : ",";
    full = full ||
           clean.size() + comma.size() + member.size() > kMaxTracestateBytes;
    if (!full) absl::StrAppend(&clean, comma, member);
  }
  return clean;
}

}  // namespace attend
