#ifndef ATTEND_SERVER_DOCUMENTS_LITERALS_ADDRESSES_H_
#define ATTEND_SERVER_DOCUMENTS_LITERALS_ADDRESSES_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace attend {

// The bytes of the URL or e-mail address that `text` begins with; 0: it begins
// with none. `before` is the text before it. An address may have letters of any
// script (RFC 3987, RFC 6531). In scripts without spaces between words, letters
// directly after a letter or digit of ASCII are the next word.
size_t AddressSize(absl::string_view before, absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_LITERALS_ADDRESSES_H_
