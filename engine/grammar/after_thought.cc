#include "engine/grammar/after_thought.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using Place = ThoughtReader::Place;

bool HasBit(const std::vector<uint32_t>& mask, int id) {
  return (mask[id / 32] >> (id % 32) & 1) != 0;
}

void SetBit(int id, absl::Span<uint32_t> mask) {
  mask[id / 32] |= uint32_t{1} << (id % 32);
}

// Returns true if a token may follow outside the answer: it continues or ends
// the thought or the text before it, but does not begin an answer.
bool MayFollow(ThoughtReader reader, absl::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    reader.Read(text[i]);
    if (reader.place() == Place::kAnswer) {
      return reader.ended() &&
             absl::StripAsciiWhitespace(text.substr(i + 1)).empty();
    }
  }
  return !text.empty();
}

class ThoughtState final : public ConstraintState {
 public:
  explicit ThoughtState(std::shared_ptr<const AfterThought> constraint)
      : constraint_(std::move(constraint)), reader_(constraint_->thought()) {
    if (reader_.place() != Place::kInside) {
      inner_ = constraint_->inner().Begin();
    }
  }
  ThoughtState(const ThoughtState& other)
      : constraint_(other.constraint_),
        reader_(other.reader_),
        inner_(other.inner_ == nullptr ? nullptr : other.inner_->Copy()),
        inner_mask_(other.inner_mask_) {}

  std::unique_ptr<ConstraintState> Copy() const override {
    return std::make_unique<ThoughtState>(*this);
  }

  absl::Status Append(int id) override {
    if (reader_.place() == Place::kAnswer) return inner_->Append(id);
    const bool undecided = reader_.place() == Place::kUndecided;
    for (const char c : constraint_->TextOf(id, reader_)) reader_.Read(c);
    if (reader_.ended()) {
      inner_ = constraint_->inner().Begin();
      return absl::OkStatus();
    }
    if (!undecided) return absl::OkStatus();
    if (reader_.place() == Place::kInside) {
      inner_ = nullptr;
    } else if (inner_ != nullptr && AllowedByInner(id)) {
      return inner_->Append(id);
    } else if (reader_.place() == Place::kAnswer) {
      return absl::InvalidArgumentError("a token is not allowed");
    } else {
      inner_ = nullptr;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Mask(absl::Span<uint32_t> mask) override {
    if (reader_.place() == Place::kAnswer) return inner_->Mask(mask);
    std::fill(mask.begin(), mask.end(), 0);
    bool can_end = false;
    if (inner_ != nullptr) {
      ASSIGN_OR_RETURN(can_end, inner_->Mask(mask));
      inner_mask_.assign(mask.begin(), mask.end());
    }
    if (reader_.place() == Place::kInside && reader_.matched() == 0) {
      std::copy_n(constraint_->inside().begin(), mask.size(), mask.begin());
    } else {
      constraint_->SetAllowed(reader_, mask);
    }
    return can_end;
  }

  std::optional<std::vector<int>> Ending(size_t most) const override {
    if (inner_ != nullptr) return inner_->Ending(most);
    const int end = constraint_->end_id();
    if (reader_.place() != Place::kInside || reader_.matched() > 0 || end < 0 ||
        most == 0) {
      return std::nullopt;
    }
    auto rest = constraint_->inner().Begin()->Ending(most - 1);
    if (rest.has_value()) rest->insert(rest->begin(), end);
    return rest;
  }

 private:
  // An inner state that refuses a token is of no use, so its mask is asked.
  bool AllowedByInner(int id) {
    if (inner_mask_.empty()) {
      inner_mask_.resize(MaskWords(constraint_->vocab()));
      if (!inner_->Mask(absl::MakeSpan(inner_mask_)).ok()) return false;
    }
    const bool allowed = HasBit(inner_mask_, id);
    inner_mask_.clear();
    return allowed;
  }

  const std::shared_ptr<const AfterThought> constraint_;
  ThoughtReader reader_;
  // Null: the text is, or may only become, a thought that has not ended.
  std::unique_ptr<ConstraintState> inner_;
  std::vector<uint32_t> inner_mask_;  // mask of inner_; empty: unknown
};

}  // namespace

AfterThought::AfterThought(std::shared_ptr<const Constraint> inner,
                           Thought thought, const Tokenizer& tokenizer,
                           int vocab)
    : inner_(std::move(inner)),
      thought_(std::move(thought)),
      tokenizer_(tokenizer),
      vocab_(vocab),
      inside_(MaskWords(vocab)) {
  Thought open = thought_;
  open.open = true;
  const ThoughtReader reader(open);
  SetAllowed(reader, absl::MakeSpan(inside_));
  for (int id = 0; id < vocab_ && end_id_ < 0; ++id) {
    if (TextOf(id, reader) == thought_.end) end_id_ = id;
  }
}

void AfterThought::SetAllowed(const ThoughtReader& reader,
                              absl::Span<uint32_t> mask) const {
  for (int id = 0; id < vocab_; ++id) {
    if (MayFollow(reader, TextOf(id, reader))) SetBit(id, mask);
  }
}

std::unique_ptr<ConstraintState> AfterThought::Begin() const {
  return std::make_unique<ThoughtState>(shared_from_this());
}

}  // namespace attend
