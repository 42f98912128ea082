#ifndef ATTEND_ENGINE_CHECKPOINT_FOREIGN_FILE_H_
#define ATTEND_ENGINE_CHECKPOINT_FOREIGN_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace attend {

// INVALID_ARGUMENT if a file of weights is, by its first bytes, something that
// people have in its place: a pointer of Git LFS, a page of HTML, nothing at
// all, or, for the name of the file, another format of weights. It says what to
// do about it.
absl::Status CheckNotForeign(const std::string& path,
                             absl::Span<const uint8_t> bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_FOREIGN_FILE_H_
