#ifndef ATTEND_ENGINE_DECODING_LIMITED_TEXT_H_
#define ATTEND_ENGINE_DECODING_LIMITED_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/api/constraint.h"

namespace attend {

// A text under a constraint that may have so many tokens only. When not many
// more are left than a short ending takes, nothing but that ending may follow:
// a text that would be cut is whole instead. A text that begins something long
// shortly before, or for which no ending is found, is cut as without. Not
// thread-safe.
class LimitedText {
 public:
  // `state` is that of an empty text. `most`: tokens; 0: there is no limit.
  LimitedText(std::unique_ptr<ConstraintState> state, size_t most);
  std::unique_ptr<LimitedText> Copy() const;

  // As those of ConstraintState.
  absl::Status Append(int id);
  absl::StatusOr<bool> Mask(absl::Span<uint32_t> mask);

  // Whether an ending has begun because of the limit.
  bool ending() const { return ending_begun_; }

 private:
  LimitedText(const LimitedText& other);

  // Looks for an ending, and begins it if it is time.
  void LookForEnding();

  std::unique_ptr<ConstraintState> state_;
  size_t left_;     // tokens
  size_t reserve_;  // tokens that may be left when the text has ended
  size_t look_at_;  // tokens left when an ending is looked for
  bool ending_begun_ = false;
  std::vector<int> ending_;
  size_t next_ = 0;  // of ending_
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_LIMITED_TEXT_H_
