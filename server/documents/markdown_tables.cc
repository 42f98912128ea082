#include "server/documents/markdown_tables.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace attend {
namespace {

// The line under the head of a table: "|---|:-:|".
bool IsDelimiterRow(absl::string_view line) {
  return absl::StrContains(line, '|') && absl::StrContains(line, '-') &&
         line.find_first_not_of("|-: \t\r>") == line.npos;
}

bool IsBlank(absl::string_view line) {
  return line.find_first_not_of(" \t\r>") == line.npos;
}

}  // namespace

std::string MarkdownTables::Divide(absl::string_view text) {
  added_.clear();
  std::string divided;
  divided.reserve(text.size());
  absl::string_view before, head;  // the last two lines
  size_t head_begin = 0;           // in `divided`
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (IsDelimiterRow(line) && absl::StrContains(head, '|') &&
        !IsDelimiterRow(head) && !IsBlank(before) &&
        !absl::StrContains(before, '|')) {
      divided.insert(head_begin, 1, '\n');
      added_.push_back(static_cast<int>(head_begin));
    }
    before = head;
    head = line;
    head_begin = divided.size();
    divided.append(line.data(), line.size());
    divided += '\n';
  }
  divided.pop_back();
  return divided;
}

int MarkdownTables::SourceOf(int at) const {
  const auto after = std::upper_bound(added_.begin(), added_.end(), at);
  return at - static_cast<int>(after - added_.begin());
}

}  // namespace attend
