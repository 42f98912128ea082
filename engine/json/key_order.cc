#include "engine/json/key_order.h"

#include <nlohmann/json.hpp>

namespace attend {

std::vector<std::string> KeysInOrder(absl::string_view text,
                                     absl::string_view key) {
  const auto top = nlohmann::ordered_json::parse(text, nullptr,
                                                 /*allow_exceptions=*/false);
  std::vector<std::string> keys;
  if (!top.is_object()) return keys;
  const auto object = top.find(std::string(key));
  if (object == top.end() || !object->is_object()) return keys;
  for (const auto& [name, value] : object->items()) keys.push_back(name);
  return keys;
}

}  // namespace attend
