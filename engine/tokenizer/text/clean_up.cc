#include "engine/tokenizer/text/clean_up.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_replace.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

// Applied in this order, each rule to the whole text.
constexpr std::pair<const char*, const char*> kRules[] = {
    {" .", "."},     {" ?", "?"},     {" !", "!"},   {" ,", ","},
    {" ' ", "'"},    {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"},
    {" 've", "'ve"}, {" 're", "'re"}};
constexpr size_t kLongestRule = 4;

}  // namespace

std::string StripSpaces(absl::string_view text) {
  size_t begin = text.size();  // of what is not space
  size_t end = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t length = std::max(FirstUtf8Char(text.substr(at)).length, 1);
    if (!IsSpace(text.substr(at, length))) {
      begin = std::min(begin, at);
      end = at + length;
    }
    at += length;
  }
  return begin < end ? std::string(text.substr(begin, end - begin)) : "";
}

std::string CleanUpSpaces(absl::string_view text) {
  std::string clean(text);
  for (const auto& [from, to] : kRules) {
    clean = absl::StrReplaceAll(clean, {{from, to}});
  }
  return clean;
}

std::string CleanUpToken(absl::string_view token) {
  std::string clean(token);
  for (const auto& [from, to] : kRules) {
    if (absl::string_view(from) == " 's") {
      clean = absl::StrReplaceAll(clean, {{" do not", " don't"}});
    }
    clean = absl::StrReplaceAll(clean, {{from, to}});
  }
  return clean;
}

// Every rule begins with a space and removes only spaces, so no rule matches
// across three bytes that are not spaces. (The prefix ends before a space or at
// the end of the text: it does not cut a character.)
size_t CleanUpBoundary(absl::string_view text) {
  for (size_t end = text.size(); end > 0; --end) {
    const size_t from = end - std::min(end, kLongestRule - 1);
    if (text.substr(from, end - from).find(' ') == absl::string_view::npos) {
      return end;
    }
  }
  return 0;
}

}  // namespace attend
