// What a hub says of a model, or an index of weights that it has. The first
// line says which model is wanted.
#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "server/hub/hub_files.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

namespace attend {
namespace {

void CheckListing(const HubReference& reference, absl::string_view json) {
  const auto listing = ParseHubListing("answer", json);
  if (!Accepted(listing.status(), "answer")) return;
  ATTEND_CHECK(IsCommit(listing->commit));
  const auto chosen = ChooseFiles(reference, *listing);
  if (!chosen.ok()) {
    ATTEND_CHECK(absl::IsNotFound(chosen.status()) ||
                 absl::IsInvalidArgument(chosen.status()));
    ATTEND_CHECK(absl::StartsWith(chosen.status().message(),
                                  reference.repository + ": "));
    return;
  }
  for (const std::string& file : *chosen) {
    // It is a path in the cache, and in a URL.
    ATTEND_CHECK(IsPlainPath(file));
    ATTEND_CHECK(
        std::count(listing->files.begin(), listing->files.end(), file) > 0);
  }
}

void CheckIndex(absl::string_view json) {
  static const FuzzDirectory directory;
  const auto shards = ShardsOf(directory.Write("index.json", json));
  if (!Accepted(shards.status(), "index.json")) return;
  ATTEND_CHECK(!shards->empty());
  for (const std::string& shard : *shards) {
    ATTEND_CHECK(IsPlainPath(shard) && !absl::StrContains(shard, '/'));
  }
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  const absl::string_view input = View(data, size);
  const size_t line = std::min(input.find('\n'), input.size());
  const auto reference = ParseHubReference(input.substr(0, line));
  if (!reference.ok()) {
    ATTEND_CHECK(absl::IsInvalidArgument(reference.status()));
    return 0;
  }
  const absl::string_view json = input.substr(std::min(line + 1, input.size()));
  CheckListing(*reference, json);
  CheckIndex(json);
  return 0;
}
