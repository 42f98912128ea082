#ifndef ATTEND_ENGINE_API_CONSTRAINT_H_
#define ATTEND_ENGINE_API_CONSTRAINT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace attend {

// The number of words of a mask: a bit for each id, that of `id` is bit
// id % 32 of word id / 32.
inline constexpr int MaskWords(int vocab) { return (vocab + 31) / 32; }

// How far a text has come that a constraint allows. Not thread-safe; copies may
// be used on different threads.
class ConstraintState {
 public:
  virtual ~ConstraintState() = default;
  virtual std::unique_ptr<ConstraintState> Copy() const = 0;
  // Continues the text with a token. A token without a text changes nothing.
  // INVALID_ARGUMENT: the token is not allowed, or a limit of work is passed;
  // then the state is of no use any more.
  virtual absl::Status Append(int id) = 0;
  // Sets the bits of the tokens that may come next, and clears all others: none
  // has no text, so no end of sequence is among them. Returns whether the text
  // may end here. `mask` is [MaskWords(vocab)]. Errors: see Append().
  virtual absl::StatusOr<bool> Mask(absl::Span<uint32_t> mask) = 0;
  // Tokens after which the text may end, at most `most`: a short ending, but
  // not always the shortest. Nothing if none is found. Takes the time of some
  // masks.
  virtual std::optional<std::vector<int>> Ending(size_t most) const = 0;
};

// What the text of a result may be. Immutable; any thread may use it.
class Constraint {
 public:
  virtual ~Constraint() = default;
  // The state of an empty text.
  virtual std::unique_ptr<ConstraintState> Begin() const = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_CONSTRAINT_H_
