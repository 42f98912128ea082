// model.safetensors.index.json, beside a file that it may list.
#include "engine/checkpoint/checkpoint.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

namespace attend {
namespace {

// A file with the tensors w and v.
std::string Shard() {
  const std::string header =
      R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
      R"("v":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]}})";
  return std::string(1, static_cast<char>(header.size())) +
         std::string(7, '\0') + header + "12345678";
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const FuzzDirectory directory;
  static const std::string shard = directory.Write("a.safetensors", Shard());
  directory.Write("model.safetensors.index.json", View(data, size));
  const auto checkpoint = Checkpoint::Open(directory.path());
  if (absl::IsNotFound(checkpoint.status())) return 0;
  if (!Accepted(checkpoint.status(), directory.path())) return 0;
  for (const std::string& name : checkpoint->Names()) {
    ATTEND_CHECK(checkpoint->Find(name).ok());
  }
  return 0;
}
