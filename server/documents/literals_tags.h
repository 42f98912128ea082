#ifndef ATTEND_SERVER_DOCUMENTS_LITERALS_TAGS_H_
#define ATTEND_SERVER_DOCUMENTS_LITERALS_TAGS_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace attend {

// The bytes of the tag that `text` begins with, if the tag cannot be prose:
// <1>,
// </1>, <1/> (i18next), <x id="1"/>, </g> (XLIFF). Other tags with names are
// those of the document, or what it is about. 0: the text begins with none.
size_t TagSize(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_LITERALS_TAGS_H_
