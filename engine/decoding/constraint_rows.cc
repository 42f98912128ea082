#include "engine/decoding/constraint_rows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/decoding/stopping.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The ids that end a text where it may end: those of the model, and those of
// `stop_ids` that have no text. Others of `stop_ids` are text, that the
// constraint has to allow.
std::vector<int> TextEnds(const SearchInput& input) {
  std::vector<int> ids = EndIds(input.params);
  const auto is_text = [&](int id) {
    const std::vector<int>& ends = input.params.eos_ids;
    return std::find(ends.begin(), ends.end(), id) == ends.end() &&
           input.token_texts != nullptr &&
           id < input.token_texts->plain.size() &&
           !input.token_texts->plain[id].empty();
  };
  ids.erase(std::remove_if(ids.begin(), ids.end(), is_text), ids.end());
  return ids;
}

// The tokens that a text has to end in; 0: none, because a search may ban the
// tokens of an ending, or has nothing to end with.
size_t TokenLimit(const SearchInput& input, bool can_end) {
  const GenerationParams& params = input.params;
  if (!can_end || input.source_ngram_size > 0 || params.min_new_tokens > 0 ||
      params.no_repeat_ngram_size > 0 || !params.bad_words.empty() ||
      !params.suppress_tokens.empty() ||
      !params.begin_suppress_tokens.empty() || !params.force_words.empty()) {
    return 0;
  }
  // The last token is forced.
  return params.max_new_tokens - (params.forced_eos_id >= 0 ? 1 : 0);
}

absl::Status Named(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  return absl::InvalidArgumentError(
      absl::StrCat("constraint: ", status.message()));
}

}  // namespace

absl::Status NothingMayFollow() {
  return absl::InvalidArgumentError(
      "constraint: no token of the model may follow: none has a text that the "
      "constraint allows here, or other parameters ban those");
}

ConstraintRows::ConstraintRows(const SearchInput& input, int max_rows)
    : words_(MaskWords(input.vocab)), end_ids_(TextEnds(input)) {
  if (input.params.constraint == nullptr) return;
  states_.resize(max_rows);
  next_states_.resize(max_rows);
  masks_.resize(max_rows * words_);
  can_end_.resize(max_rows);
  steps_.resize(max_rows);
  next_states_[0] = std::make_unique<LimitedText>(
      input.params.constraint->Begin(), TokenLimit(input, !end_ids_.empty()));
  status_ = Named(PrepareRow(0));
  std::swap(states_, next_states_);
}

FinishReason ConstraintRows::Why(int row, FinishReason finish) const {
  const bool limited =
      active() && states_[row] != nullptr && states_[row]->ending();
  return limited && finish == FinishReason::kEos ? FinishReason::kMaxLength
                                                 : finish;
}

void ConstraintRows::Follow(int row, int parent, int token, bool dead) {
  if (!active()) return;
  steps_[row] = {.parent = parent, .token = token, .dead = dead};
  followed_ = row + 1;
}

void ConstraintRows::Prepare() {
  status_ = CatchOutOfMemory([this] {
    for (int row = 0; row < followed_; ++row) {
      next_states_[row] = steps_[row].dead ? nullptr : Take(row);
      if (next_states_[row] != nullptr) {
        RETURN_IF_ERROR(next_states_[row]->Append(steps_[row].token));
      }
      RETURN_IF_ERROR(PrepareRow(row));
    }
    return absl::OkStatus();
  });
  status_ = Named(status_);
  std::swap(states_, next_states_);
  followed_ = 0;
}

std::unique_ptr<LimitedText> ConstraintRows::Take(int row) {
  const int parent = steps_[row].parent;
  if (states_[parent] == nullptr) return nullptr;
  const bool last =
      std::none_of(steps_.begin() + row + 1, steps_.begin() + followed_,
                   [parent](const Step& step) {
                     return !step.dead && step.parent == parent;
                   });
  return last ? std::move(states_[parent]) : states_[parent]->Copy();
}

absl::Status ConstraintRows::PrepareRow(int row) {
  const absl::Span<uint32_t> mask =
      absl::MakeSpan(masks_).subspan(row * words_, words_);
  if (next_states_[row] == nullptr) {
    std::fill(mask.begin(), mask.end(), 0);
    can_end_[row] = false;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const bool can_end, next_states_[row]->Mask(mask));
  SetEnds(row, can_end);
  return absl::OkStatus();
}

// An end of sequence may have a text of its own, but it ends the text.
void ConstraintRows::SetEnds(int row, bool can_end) {
  uint32_t* const mask = masks_.data() + row * words_;
  can_end_[row] = can_end;
  for (const int id : end_ids_) {
    const uint32_t bit = uint32_t{1} << (id % 32);
    mask[id / 32] = can_end ? mask[id / 32] | bit : mask[id / 32] & ~bit;
  }
}

}  // namespace attend
