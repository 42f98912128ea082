#include "tests/support/field_rows.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace attend {

std::vector<nlohmann::json> FieldRows(std::string_view kind) {
  const std::string path =
      ATTEND_SOURCE_DIR "/tests/field/" + std::string(kind) + ".json";
  std::ifstream file(path);
  const auto rows = nlohmann::json::parse(file, /*cb=*/nullptr,
                                          /*allow_exceptions=*/false);
  if (!rows.is_array() || rows.empty()) {
    std::fprintf(stderr, "%s: expected a list of rows\n", path.c_str());
    std::abort();
  }
  return {rows.begin(), rows.end()};
}

}  // namespace attend
