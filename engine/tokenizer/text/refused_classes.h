#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_REFUSED_CLASSES_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_REFUSED_CLASSES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace attend {

// Returns what a class does in transformers 5.23 that Attend does not ("reads
// other files"); "" if it is none of those.
absl::string_view RefusalOf(absl::string_view tokenizer_class);

// INVALID_ARGUMENT names `path`, a tokenizer.json, and the class if
// transformers 5.23 does not make ids of plain text by that file for the class,
// so that the file's ids would be others.
absl::Status CheckTakesFile(const std::string& path,
                            absl::string_view tokenizer_class);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_REFUSED_CLASSES_H_
