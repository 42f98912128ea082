#ifndef ATTEND_ENGINE_JSON_KEY_ORDER_H_
#define ATTEND_ENGINE_JSON_KEY_ORDER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// The keys of the object that is the value of `key` in `text`, in the order of
// the text, which a JsonFile does not keep. Empty if there is no such object.
std::vector<std::string> KeysInOrder(absl::string_view text,
                                     absl::string_view key);

}  // namespace attend

#endif  // ATTEND_ENGINE_JSON_KEY_ORDER_H_
