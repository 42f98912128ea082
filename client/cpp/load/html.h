#ifndef ATTEND_CLIENT_CPP_LOAD_HTML_H_
#define ATTEND_CLIENT_CPP_LOAD_HTML_H_

#include <string>
#include <string_view>

namespace attend {

// The text as HTML shows it, in an element or in a quoted attribute. Control
// characters, and all bytes above ASCII of a text that is not UTF-8, become
// U+FFFD.
std::string EscapeHtml(std::string_view text);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_HTML_H_
