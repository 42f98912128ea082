#ifndef ATTEND_SERVER_DOCUMENTS_ATTRIBUTE_TEXTS_H_
#define ATTEND_SERVER_DOCUMENTS_ATTRIBUTE_TEXTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/documents/text_breaks.h"

namespace attend {

// An attribute's value that readers of a page see or hear.
struct AttributeText {
  TextRange value;  // in the document, without quotation marks
  char quote = 0;   // around the value; 0: none
};

// Collects such values of one start tag of HTML: those of the translatable
// attributes of the HTML standard (section 3.2.6.2) but file names, scripts,
// styles and documents; and those of WAI-ARIA.
class AttributeTexts {
 public:
  // `element`: its name in lower case. It must outlive the object.
  explicit AttributeTexts(absl::string_view element) : element_(element) {}

  // The next attribute of the tag. Of equal names, the first counts.
  void Read(absl::string_view name, absl::string_view value,
            AttributeText text);
  // Once all were read.
  std::vector<AttributeText> Take();

 private:
  // Returns true if the name has not been there yet.
  bool IsNew(const std::string& name);

  const absl::string_view element_;
  std::vector<std::string> seen_;
  std::vector<AttributeText> texts_;
  // Of <meta> and <input>: it depends on other attributes.
  std::optional<AttributeText> value_;
  bool is_read_ = false;   // <meta>: its name says so
  bool is_named_ = false;  // <input>: a form sends the value
  std::string type_;       // of <input>, in lower case
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_ATTRIBUTE_TEXTS_H_
