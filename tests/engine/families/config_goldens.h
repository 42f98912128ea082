#ifndef ATTEND_TESTS_ENGINE_FAMILIES_CONFIG_GOLDENS_H_
#define ATTEND_TESTS_ENGINE_FAMILIES_CONFIG_GOLDENS_H_

#include <ostream>
#include <string>
#include <vector>

namespace attend {

using Keys = std::vector<std::string>;

Keys Join(Keys keys, const Keys& more);

// A checkpoint under tests/golden, and fields of its config.json.
struct ConfigGolden {
  const char* directory;
  Keys sizes;                // must be there, and above 0
  Keys numbers;              // have a default
  const char* activation;    // null: the file does not say
  const char* architecture;  // one that is supported
};

void PrintTo(const ConfigGolden& golden, std::ostream* out);

// At least one of each family.
std::vector<ConfigGolden> ConfigGoldens();

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_FAMILIES_CONFIG_GOLDENS_H_
