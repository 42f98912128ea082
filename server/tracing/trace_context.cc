#include "server/tracing/trace_context.h"

#include <algorithm>

#include "absl/strings/ascii.h"
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

template <size_t n>
std::string WriteHex(const std::array<uint8_t, n>& bytes) {
  constexpr absl::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * n);
  for (const uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
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

std::string ToHex(const TraceId& id) { return WriteHex(id); }
std::string ToHex(const SpanId& id) { return WriteHex(id); }

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
  // Later versions may have more fields behind these.
  if (text.size() > kTraceparentBytes &&
      (version[0] == 0 || text[kTraceparentBytes] != '-')) {
    return std::nullopt;
  }
  context.sampled = (flags[0] & 1) != 0;
  return context;
}

std::string ToTraceparent(const TraceContext& context) {
  return absl::StrCat("00-", ToHex(context.trace_id), "-",
                      ToHex(context.span_id), context.sampled ? "-01" : "-00");
}

std::string CleanTracestate(absl::string_view text) {
  std::string clean;
  int members = 0;
  bool full = false;
  for (const absl::string_view padded : absl::StrSplit(text, ',')) {
    const absl::string_view member = TrimSpaces(padded);
    if (member.empty()) continue;
    if (!IsMember(member) || ++members > kMaxMembers) return "";
    full = full || clean.size() + 1 + member.size() > kMaxTracestateBytes;
    if (full) continue;
    absl::StrAppend(&clean, clean.empty() ? "" : ",", member);
  }
  return clean;
}

}  // namespace attend
