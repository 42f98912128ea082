#include "engine/json/shell_word.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace attend {

std::string ShellWord(absl::string_view path) {
  const bool plain = std::all_of(path.begin(), path.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) ||
           absl::StrContains("/._-+=:,@%", static_cast<char>(c));
  });
  if (plain && !path.empty()) return std::string(path);
  return absl::StrCat("'", absl::StrReplaceAll(path, {{"'", "'\\''"}}), "'");
}

}  // namespace attend
