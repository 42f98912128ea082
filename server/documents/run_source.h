#ifndef ATTEND_SERVER_DOCUMENTS_RUN_SOURCE_H_
#define ATTEND_SERVER_DOCUMENTS_RUN_SOURCE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "server/documents/run.h"

namespace attend {

// The runs of a document that have text. Those in tags and objects of others
// come in any order, the others in the order of the document. For one thread.
class RunSource {
 public:
  virtual ~RunSource() = default;
  // Nothing: there are no more. INVALID_ARGUMENT: the document has more markup
  // than it may have.
  virtual absl::StatusOr<std::optional<Run>> Next() = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_RUN_SOURCE_H_
