// The header of a safetensors file.
#include "engine/checkpoint/safetensors.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  const auto entries = ReadSafetensorsHeader("f.safetensors", {data, size});
  if (!Accepted(entries.status(), "f.safetensors")) return 0;
  // The tensors fill the file behind the header.
  size_t bytes = 0;
  for (const auto& [name, entry] : *entries) {
    ATTEND_CHECK(entry.begin <= entry.end && entry.end <= size);
    bytes += entry.end - entry.begin;
    bool empty = false;
    for (const int64_t dim : entry.shape) {
      ATTEND_CHECK(dim >= 0);
      empty = empty || dim == 0;
    }
    ATTEND_CHECK(empty == (entry.begin == entry.end));
  }
  uint64_t header = 0;
  for (int i = 7; i >= 0; --i) header = header << 8 | data[i];
  ATTEND_CHECK(8 + header + bytes == size);
  return 0;
}
