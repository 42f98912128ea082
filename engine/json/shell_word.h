#ifndef ATTEND_ENGINE_JSON_SHELL_WORD_H_
#define ATTEND_ENGINE_JSON_SHELL_WORD_H_

#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// Returns a path as one word of a shell command, quoted if necessary.
std::string ShellWord(absl::string_view path);

}  // namespace attend

#endif  // ATTEND_ENGINE_JSON_SHELL_WORD_H_
