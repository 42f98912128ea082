#ifndef ATTEND_TESTS_ENGINE_FAMILIES_CONFIG_H_
#define ATTEND_TESTS_ENGINE_FAMILIES_CONFIG_H_

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/json/json_file.h"

namespace attend {

// The bundled model's configuration with some keys changed (null: removed).
inline JsonFile Config(
    const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json json;
  std::ifstream(ATTEND_SOURCE_DIR "/models/en-de/config.json") >> json;
  json.update(changes);
  return *JsonFile::Parse("config.json", json.dump());
}

// The same of a checkpoint under tests/golden/families.
inline JsonFile FixtureConfig(
    const std::string& name,
    const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json json;
  std::ifstream(ATTEND_SOURCE_DIR "/tests/golden/families/" + name +
                "/config.json") >>
      json;
  json.update(changes);
  return *JsonFile::Parse("config.json", json.dump());
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_FAMILIES_CONFIG_H_
