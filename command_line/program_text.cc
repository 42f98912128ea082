#include "command_line/program_text.h"

#include "absl/strings/str_split.h"

namespace attend {

absl::string_view FirstClause(absl::string_view help) {
  for (const char* end : {". ", ": ", "; ", " ("}) {
    help = help.substr(0, help.find(end));
  }
  if (!help.empty() && help.back() == '.') help.remove_suffix(1);
  return help;
}

std::vector<std::string> ChoicesOf(const std::string& type) {
  const size_t begin = type.find('{');
  const size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return absl::StrSplit(type.substr(begin + 1, end - begin - 1), ',');
}

}  // namespace attend
