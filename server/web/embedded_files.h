#ifndef ATTEND_SERVER_WEB_EMBEDDED_FILES_H_
#define ATTEND_SERVER_WEB_EMBEDDED_FILES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace attend {

// A file that is a part of the program.
struct EmbeddedFile {
  absl::string_view name;  // from its folder: "attend/v1/attend.proto"
  absl::string_view text;
};

// The files of page/.
absl::Span<const EmbeddedFile> PageFiles();
// The definitions of the API, from proto/.
absl::Span<const EmbeddedFile> ProtoFiles();

}  // namespace attend

#endif  // ATTEND_SERVER_WEB_EMBEDDED_FILES_H_
