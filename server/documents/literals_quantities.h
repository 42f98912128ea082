#ifndef ATTEND_SERVER_DOCUMENTS_LITERALS_QUANTITIES_H_
#define ATTEND_SERVER_DOCUMENTS_LITERALS_QUANTITIES_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace attend {

// The bytes of the number with a unit or a currency that `text` begins with
// ("5 km", "20%", "$3.50"); 0: it begins with none. `before` is the text before
// it.
size_t QuantitySize(absl::string_view before, absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_LITERALS_QUANTITIES_H_
