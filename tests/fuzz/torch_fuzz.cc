// A file that torch.save() wrote, in either of its formats.
#include <map>
#include <string>

#include "engine/checkpoint/torch/torch_file.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  const auto entries = ReadTorchFile("f.bin", {data, size});
  if (!Accepted(entries.status(), "f.bin")) return 0;
  ATTEND_CHECK(!entries->empty());
  for (const auto& [name, entry] : *entries) {
    ATTEND_CHECK(entry.begin <= entry.end && entry.end <= size);
    size_t count = 1;
    for (const int64_t dim : entry.shape) {
      ATTEND_CHECK(dim >= 0);
      count *= static_cast<size_t>(dim);
    }
    if (entry.layout == TorchLayout::kOther) continue;
    const size_t bytes = entry.end - entry.begin;
    ATTEND_CHECK(count == 0 ? bytes == 0 : bytes % count == 0);
  }
  return 0;
}
