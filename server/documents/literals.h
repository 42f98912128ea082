#ifndef ATTEND_SERVER_DOCUMENTS_LITERALS_H_
#define ATTEND_SERVER_DOCUMENTS_LITERALS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "server/documents/text_breaks.h"

namespace attend {

// Something in a text that a translation has to have as it is.
struct Literal {
  TextRange range;
  // It says something that a model can read: "5 km". Otherwise it is a name of
  // a machine's: "{count}", "https://example.com".
  bool readable = false;
};

// The literals of a text, in order, apart from each other:
// * URLs (also "data:image/png;base64,..."), e-mail addresses;
// * placeholders: {name}, {{name}}, ${name}, %s, %1$s, %(name)s, %{name}, %1,
//   {n, plural, ...}, <1>, :name and others; see PlaceholderSize();
// * numbers with a unit or a currency: 5 km, 20%, $3.50.
// They are found next to any character that is not part of a word with them, by
// Unicode's properties. Takes time in proportion to the text.
std::vector<Literal> FindLiterals(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_LITERALS_H_
