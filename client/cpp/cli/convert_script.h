#ifndef ATTEND_CLIENT_CPP_CLI_CONVERT_SCRIPT_H_
#define ATTEND_CLIENT_CPP_CLI_CONVERT_SCRIPT_H_

namespace attend {

// The text of convert.py, which the build puts into the program.
extern const char kConvertScript[];

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_CONVERT_SCRIPT_H_
