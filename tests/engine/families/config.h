#ifndef ATTEND_TESTS_ENGINE_FAMILIES_CONFIG_H_
#define ATTEND_TESTS_ENGINE_FAMILIES_CONFIG_H_

#include <nlohmann/json.hpp>
#include <string>

#include "engine/json/json_file.h"

namespace attend {

// The bundled model's configuration with some keys changed (null: removed).
JsonFile Config(const nlohmann::json& changes = nlohmann::json::object());

// The same of a checkpoint under tests/golden/families.
JsonFile FixtureConfig(const std::string& name, const nlohmann::json& changes =
                                                    nlohmann::json::object());

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_FAMILIES_CONFIG_H_
