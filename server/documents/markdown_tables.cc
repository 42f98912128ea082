#include "server/documents/markdown_tables.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace attend {
namespace {

// Characters of a cell of a delimiter row that md4c wants.
constexpr size_t kLeastCell = 3;

// The line under the head of a table: "|---|:-:|". "- |-|" is an item of a
// list.
bool IsDelimiterRow(absl::string_view line) {
  const size_t begin = line.find_first_not_of(" \t>");
  return absl::StrContains(line, '|') && absl::StrContains(line, '-') &&
         line.find_first_not_of("|-: \t\r>") == line.npos &&
         !absl::StartsWith(line.substr(begin), "- ");
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
    const bool delimits = IsDelimiterRow(line) &&
                          absl::StrContains(head, '|') && !IsDelimiterRow(head);
    if (delimits && !IsBlank(before) && !absl::StrContains(before, '|')) {
      divided.insert(head_begin, 1, '\n');
      added_.push_back(static_cast<int>(head_begin));
    }
    before = head;
    head = line;
    head_begin = divided.size();
    if (delimits) {
      AppendWidened(line, divided);
    } else {
      divided.append(line.data(), line.size());
    }
    divided += '\n';
  }
  divided.pop_back();
  return divided;
}

void MarkdownTables::AppendWidened(absl::string_view row,
                                   std::string& divided) {
  for (size_t at = 0; at < row.size(); ++at) {
    divided += row[at];
    const size_t next = at + 1;
    if (row[at] != '-' || (next < row.size() && row[next] == '-')) continue;
    // The last hyphen of a cell.
    const size_t before = row.find_last_not_of(":-", at);
    const size_t begin = before == row.npos ? 0 : before + 1;
    const size_t end = std::min(row.find_first_not_of(":-", at), row.size());
    for (size_t size = end - begin; size < kLeastCell; ++size) {
      added_.push_back(static_cast<int>(divided.size()));
      divided += '-';
    }
  }
}

int MarkdownTables::SourceOf(int at) const {
  const auto after = std::upper_bound(added_.begin(), added_.end(), at);
  return at - static_cast<int>(after - added_.begin());
}

}  // namespace attend
