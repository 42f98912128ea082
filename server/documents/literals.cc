#include "server/documents/literals.h"

#include <algorithm>

#include "server/documents/literals_addresses.h"
#include "server/documents/literals_placeholders.h"
#include "server/documents/literals_quantities.h"
#include "server/documents/literals_text.h"

namespace attend {

std::vector<Literal> FindLiterals(absl::string_view text) {
  std::vector<Literal> literals;
  size_t end = 0;  // of the last literal
  for (size_t at = 0; at < text.size();) {
    const absl::string_view rest = text.substr(at);
    // A literal is no neighbour of the next one: "%1%2" are two.
    const absl::string_view before = text.substr(end, at - end);
    size_t size =
        std::max(PlaceholderSize(before, rest), AddressSize(before, rest));
    const bool readable = size == 0;
    if (readable) size = QuantitySize(before, rest);
    if (size > 0) {
      const int begin = static_cast<int>(at);
      literals.push_back({{begin, begin + static_cast<int>(size)}, readable});
      end = at + size;
    }
    at += size > 0 ? size : First(rest).bytes;
  }
  return literals;
}

}  // namespace attend
