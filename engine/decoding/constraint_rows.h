#ifndef ATTEND_ENGINE_DECODING_CONSTRAINT_ROWS_H_
#define ATTEND_ENGINE_DECODING_CONSTRAINT_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/api/output.h"
#include "engine/decoding/limited_text.h"
#include "engine/decoding/search_input.h"

namespace attend {

// What ends a search of which no text goes on.
absl::Status NothingMayFollow();

// What the constraint of a request lets follow each live hypothesis of a
// search. A search says what it chose by Follow(). Prepare() finds out what may
// come next: that takes time. Without a constraint everything is allowed, and
// nothing takes time.
class ConstraintRows {
 public:
  // Has prepared the first row.
  ConstraintRows(const SearchInput& input, int max_rows);

  bool active() const { return !states_.empty(); }

  // The tokens that may follow a row, ends of sequence included, as LogitsNeed
  // wants it: null if all may. A dead row has none.
  const uint32_t* allowed(int row) const {
    return active() ? masks_.data() + row * words_ : nullptr;
  }
  // Whether the text of a row may end.
  bool can_end(int row) const { return !active() || can_end_[row]; }
  // Why a row ends, which `finish` ends: the limit of tokens, if it has brought
  // the text to that end of sequence.
  FinishReason Why(int row, FinishReason finish) const;
  // OK, or why Prepare() failed. The rows are of no use then.
  const absl::Status& status() const { return status_; }

  // Row `row` continues row `parent`, as both are before and after all of these
  // calls, by `token`. `dead`: the row has ended; it only fills a place.
  void Follow(int row, int parent, int token, bool dead);
  // Whether Prepare() has something to do.
  bool waiting() const { return followed_ > 0; }
  void Prepare();

 private:
  struct Step {
    int parent = 0;
    int token = 0;
    bool dead = false;
  };

  // The state of the parent of a row, which other rows may continue too.
  std::unique_ptr<LimitedText> Take(int row);
  absl::Status PrepareRow(int row);
  void SetEnds(int row, bool can_end);

  const size_t words_;  // of a mask
  const std::vector<int> end_ids_;
  // Of each row; null: dead. Empty: there is no constraint.
  std::vector<std::unique_ptr<LimitedText>> states_;
  std::vector<std::unique_ptr<LimitedText>> next_states_;
  std::vector<uint32_t> masks_;  // [rows, words]
  std::vector<char> can_end_;    // [rows]
  std::vector<Step> steps_;      // [rows]
  int followed_ = 0;             // rows of steps_
  absl::Status status_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_CONSTRAINT_ROWS_H_
