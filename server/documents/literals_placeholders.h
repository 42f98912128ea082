#ifndef ATTEND_SERVER_DOCUMENTS_LITERALS_PLACEHOLDERS_H_
#define ATTEND_SERVER_DOCUMENTS_LITERALS_PLACEHOLDERS_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace attend {

// The bytes of the placeholder that `text` begins with; 0: it begins with none.
// `before` is the text before it.
//
// In braces: {name}, {}, {0:.2f} and {name!r:>10} (Python, Rust, C#),
// {0,number} and {n, plural, ...} (ICU), {{name}} (i18next, Mustache, Jinja),
// {% tag %},
// ${expression}, #{expression}, %{name}.
// After a percent sign: %s, %1$s, %-5.2f, %@, %ld (printf, Android, Apple),
// %(name)s, %<name>s (Python, Ruby), %1, %L1, %n (Qt), %1% (Boost), %Y (dates).
// Others: <1>, </1>, <1/> (i18next), tags with attributes and the end tags of
// XLIFF (<x id="1"/>, <g id="1">, </g>), $t(key), $name, :name, :smile:,
// @:key, {'@'} (Vue).
//
// Takes time that does not depend on the size of the texts.
size_t PlaceholderSize(absl::string_view before, absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_LITERALS_PLACEHOLDERS_H_
