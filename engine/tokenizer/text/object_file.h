#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_OBJECT_FILE_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_OBJECT_FILE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// A JSON file whose top is an object, with the order of its members, which a
// Json does not keep: transformers adds tokens in that order.
struct ObjectFile {
  // An empty object if there is no such file. INVALID_ARGUMENT names the file.
  static absl::StatusOr<ObjectFile> Load(const std::string& path);

  // The members of the object, or of its member `inside`, which must be an
  // object, in the order of the file.
  std::vector<std::pair<std::string, nlohmann::json>> Members(
      absl::string_view inside = "") const;

  std::string text;
  nlohmann::json top;  // as in `text`
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_OBJECT_FILE_H_
