#ifndef ATTEND_SERVER_INFERENCE_QUOTED_H_
#define ATTEND_SERVER_INFERENCE_QUOTED_H_

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace attend {

// A name that a client chose, as errors show it: at most 100 bytes, and nothing
// that is not printable.
inline std::string Quoted(absl::string_view name) {
  return absl::StrCat("'", absl::CHexEscape(name.substr(0, 100)), "'");
}

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_QUOTED_H_
