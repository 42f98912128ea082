#include "server/documents/literals.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "server/documents/literals_addresses.h"
#include "server/documents/literals_placeholders.h"
#include "server/documents/literals_quantities.h"
#include "server/documents/literals_text.h"

namespace attend {
namespace {

// The tags with attributes that were found: their end tags are literals, too.
class OpenTags {
 public:
  void Add(absl::string_view literal) {
    if (!absl::ConsumePrefix(&literal, "<") || literal.empty() ||
        !absl::ascii_isalpha(literal[0]) || absl::EndsWith(literal, "/>")) {
      return;
    }
    if (names_.size() == kMost) names_.erase(names_.begin());
    names_.push_back(literal.substr(0, literal.find(' ')));
  }
  // The bytes of the end tag of one of them that `text` begins with.
  size_t Close(absl::string_view text) {
    if (!absl::ConsumePrefix(&text, "</")) return 0;
    for (size_t i = names_.size(); i > 0; --i) {
      const size_t size = names_[i - 1].size();
      if (!absl::StartsWith(text, names_[i - 1]) ||
          !absl::StartsWith(text.substr(size), ">")) {
        continue;
      }
      names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(i) - 1);
      return size + 3;
    }
    return 0;
  }

 private:
  static constexpr size_t kMost = 16;
  std::vector<absl::string_view> names_;
};

}  // namespace

std::vector<Literal> FindLiterals(absl::string_view text) {
  std::vector<Literal> literals;
  OpenTags open;
  size_t end = 0;  // of the last literal
  for (size_t at = 0; at < text.size();) {
    const absl::string_view rest = text.substr(at);
    // A literal is no neighbour of the next one: "%1%2" are two.
    const absl::string_view before = text.substr(end, at - end);
    size_t size = std::max({PlaceholderSize(before, rest),
                            AddressSize(before, rest), open.Close(rest)});
    const bool readable = size == 0;
    if (readable) size = QuantitySize(before, rest);
    if (size > 0) {
      const int begin = static_cast<int>(at);
      literals.push_back({{begin, begin + static_cast<int>(size)}, readable});
      end = at + size;
      open.Add(rest.substr(0, size));
    }
    at += size > 0 ? size : First(rest).bytes;
  }
  return literals;
}

}  // namespace attend
