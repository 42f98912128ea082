#ifndef ATTEND_SERVER_HUB_HUB_CACHE_H_
#define ATTEND_SERVER_HUB_HUB_CACHE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/hub/hub_reference.h"

namespace attend {

// A model in the cache of huggingface_hub:
//
//   models--OWNER--NAME/blobs/HASH             a file's contents
//                       refs/REVISION          the commit of a branch or tag
//                       snapshots/COMMIT/FILE  a link to its blob
//                       .attend/COMMIT         that commit was fetched whole
//   .locks/models--OWNER--NAME/HASH.lock       of who writes the blob
//
// Its contents are trusted: files are verified when they are added. Errors name
// the path and the system's error.
class HubCache {
 public:
  HubCache(const std::string& directory, const HubReference& reference);

  std::string Snapshot(absl::string_view commit) const;
  std::string Blob(absl::string_view hash) const;
  // The path of a partial download.
  std::string Incomplete(absl::string_view hash) const;
  std::string Lock(absl::string_view hash) const;

  // The commit that the reference's revision meant last, or is. NOT_FOUND: the
  // cache does not know it.
  absl::StatusOr<std::string> Commit() const;
  absl::Status SetCommit(const std::string& commit) const;
  // Makes the snapshot's file, which is a path in it, lead to the blob.
  absl::Status Link(absl::string_view commit, absl::string_view file,
                    absl::string_view hash) const;
  // Returns true if a snapshot has the file, which then equals the commit's.
  bool Has(absl::string_view commit, absl::string_view file) const;
  // OK if a snapshot has the file of the reference with all its parts, or a
  // configuration and all weights. Otherwise NOT_FOUND names the missing file.
  absl::Status CheckWhole(absl::string_view commit) const;
  // Attend has fetched all that it needs of the commit. Others may have fetched
  // less: CheckWhole() cannot tell which small files a model has. A cache that
  // cannot be written does not remember it.
  void Remember(const std::string& commit) const;
  bool Remembers(const std::string& commit) const;
  // The path of a complete model: the snapshot's directory, or its GGUF file.
  std::string ModelPath(absl::string_view commit) const;

  // The directories that blobs and locks are in.
  absl::Status MakeDirectories() const;

 private:
  std::string Ref() const;
  std::string Mark(const std::string& commit) const;

  const HubReference reference_;
  const std::string locks_;  // directories of this model
  const std::string model_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HUB_HUB_CACHE_H_
