#include "tests/engine/families/config.h"

#include <fstream>

namespace attend {
namespace {

JsonFile Changed(const std::string& path, const nlohmann::json& changes) {
  nlohmann::json json;
  std::ifstream(ATTEND_SOURCE_DIR "/" + path + "/config.json") >> json;
  json.update(changes);
  return *JsonFile::Parse("config.json", json.dump());
}

}  // namespace

JsonFile Config(const nlohmann::json& changes) {
  return Changed("models/en-de", changes);
}

JsonFile FixtureConfig(const std::string& name, const nlohmann::json& changes) {
  return Changed("tests/golden/families/" + name, changes);
}

}  // namespace attend
