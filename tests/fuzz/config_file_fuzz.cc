// The file of options that --config names.
#include "server/app/config_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const FuzzDirectory directory;
  const std::string path = directory.Write("f.toml", View(data, size));
  Accepted(ReadConfigFile(path).status(), "f.toml");
  return 0;
}
