#include "client/cpp/top/metrics_text.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace attend {
namespace {

// Takes a quoted value, with its escapes, from the front of `text`; nullopt if
// there is none.
std::optional<std::string> TakeQuoted(absl::string_view& text) {
  if (text.empty() || text[0] != '"') return std::nullopt;
  std::string value;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] != '\\') {
      value += text[i];
    } else if (++i < text.size()) {
      value += text[i] == 'n' ? '\n' : text[i];
    }
  }
  return std::nullopt;
}

// Takes `{name="value",...}`; false if it is not well-formed.
bool TakeLabels(absl::string_view& text, Sample& sample) {
  text.remove_prefix(1);
  while (!text.empty() && text[0] != '}') {
    const size_t equals = text.find('=');
    if (equals == absl::string_view::npos) return false;
    std::string name(text.substr(0, equals));
    text.remove_prefix(equals + 1);
    std::optional<std::string> value = TakeQuoted(text);
    if (!value) return false;
    sample.labels[std::move(name)] = *std::move(value);
    if (!text.empty() && text[0] == ',') text.remove_prefix(1);
  }
  if (text.empty()) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

Samples ParseMetrics(absl::string_view text) {
  Samples all;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const size_t end = line.find_first_of("{ ");
    if (end == absl::string_view::npos) continue;
    const absl::string_view name = line.substr(0, end);
    line.remove_prefix(end);
    Sample sample;
    if (line[0] == '{' && !TakeLabels(line, sample)) continue;
    // The value may be followed by a time.
    const std::vector<absl::string_view> words =
        absl::StrSplit(absl::StripAsciiWhitespace(line), ' ');
    if (!absl::SimpleAtod(words[0], &sample.value)) continue;
    all[std::string(name)].push_back(std::move(sample));
  }
  return all;
}

}  // namespace attend
