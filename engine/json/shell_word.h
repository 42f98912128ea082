#ifndef ATTEND_ENGINE_JSON_SHELL_WORD_H_
#define ATTEND_ENGINE_JSON_SHELL_WORD_H_

#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// A path as one word of a command for a shell: in quotes if it needs them.
std::string ShellWord(absl::string_view path);

}  // namespace attend

#endif  // ATTEND_ENGINE_JSON_SHELL_WORD_H_
