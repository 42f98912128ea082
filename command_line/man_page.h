#ifndef ATTEND_COMMAND_LINE_MAN_PAGE_H_
#define ATTEND_COMMAND_LINE_MAN_PAGE_H_

#include <string>

#include "command_line/program_text.h"

namespace attend {

// The manual page of section 1, for `man`.
std::string ManPage(const ProgramText& program);

}  // namespace attend

#endif  // ATTEND_COMMAND_LINE_MAN_PAGE_H_
