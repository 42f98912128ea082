#ifndef ATTEND_COMMAND_LINE_COMPLETIONS_H_
#define ATTEND_COMMAND_LINE_COMPLETIONS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "command_line/program_text.h"

namespace attend {

// The shells, as --completion names them.
inline constexpr absl::string_view kShells[] = {"bash", "zsh", "fish"};

// A script for the shell, which is one of kShells, that completes commands,
// options, and values of which there are a few; all else as names of files.
std::string CompletionScript(const ProgramText& program,
                             absl::string_view shell);

}  // namespace attend

#endif  // ATTEND_COMMAND_LINE_COMPLETIONS_H_
