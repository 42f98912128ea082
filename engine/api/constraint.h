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

// Number of words of a mask, which has one bit per id: bit id % 32 of word
// id / 32.
inline constexpr int MaskWords(int vocab) { return (vocab + 31) / 32; }

// The progress of a text under a constraint. Not thread-safe; copies may
// be used on different threads.
class ConstraintState {
 public:
  virtual ~ConstraintState() = default;
  virtual std::unique_ptr<ConstraintState> Copy() const = 0;
  // Continues the text with a token. A token without a text changes nothing.
  // INVALID_ARGUMENT: the token is not allowed, or a limit of work is exceeded;
  // the state must not be used afterwards.
  virtual absl::Status Append(int id) = 0;
  // Sets the bits of the tokens that may come next, and clears all others. Only
  // tokens with a text are set, so never an end of sequence. Returns true if
  // the text may end here. `mask` is [MaskWords(vocab)]. Errors: see Append().
  virtual absl::StatusOr<bool> Mask(absl::Span<uint32_t> mask) = 0;
  // Returns at most `most` tokens after which the text may end: a short ending,
  // but not always the shortest. nullopt if none is found. Costs as much as
  // several masks.
  virtual std::optional<std::vector<int>> Ending(size_t most) const = 0;
};

// A restriction of the text of a result. Immutable; any thread may use it.
class Constraint {
 public:
  virtual ~Constraint() = default;
  // The state of an empty text.
  virtual std::unique_ptr<ConstraintState> Begin() const = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_CONSTRAINT_H_
