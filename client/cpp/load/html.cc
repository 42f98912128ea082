#include "client/cpp/load/html.h"

#include "client/cpp/lib/utf8.h"

namespace attend {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace

std::string EscapeHtml(std::string_view text) {
  const bool is_utf8 = IsUtf8(text);
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else if (c == '\'') {
      escaped += "&#39;";
    } else if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F ||
               (byte >= 0x80 && !is_utf8)) {
      escaped += kReplacement;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace attend
