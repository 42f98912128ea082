#include "engine/decoding/shortlist.h"

#include <algorithm>
#include <utility>

#include "engine/tensor/check.h"

namespace attend {
namespace {

// A set of target ids.
class Chosen {
 public:
  explicit Chosen(int vocab) : has_(vocab) {}

  void Add(int id) {
    if (id < 0 || has_[id]) return;
    has_[id] = true;
    ++count_;
  }
  void Add(absl::Span<const int> ids) {
    for (const int id : ids) Add(id);
  }
  std::vector<int> Ascending() const {
    std::vector<int> ids;
    ids.reserve(count_);
    for (size_t id = 0; id < has_.size(); ++id) {
      if (has_[id]) ids.push_back(static_cast<int>(id));
    }
    return ids;
  }

 private:
  std::vector<bool> has_;
  size_t count_ = 0;
};

// The tokens without which a request could not get what it asks for.
void AddNamed(const GenerationParams& params, Chosen& chosen) {
  chosen.Add(params.eos_ids);
  chosen.Add(params.stop_ids);
  chosen.Add(params.forced_bos_id);
  chosen.Add(params.forced_eos_id);
  for (const auto& word : params.force_words) {
    for (const std::vector<int>& tokens : word) chosen.Add(tokens);
  }
  for (const SequenceBias& entry : params.sequence_bias) {
    if (entry.bias > 0) chosen.Add(entry.tokens);
  }
}

}  // namespace

void Shortlist::AddAlways(absl::Span<const int> targets) {
  for (const int id : targets) {
    if (is_always_[id]) continue;
    is_always_[id] = true;
    always_.push_back(id);
  }
}

void Shortlist::Set(std::vector<int> source, std::vector<int> targets) {
  ATTEND_CHECK(!source.empty());
  longest_ = std::max(longest_, source.size());
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  targets.shrink_to_fit();
  targets_[std::move(source)] = std::move(targets);
}

std::vector<int> Shortlist::Find(absl::Span<const int> source,
                                 const GenerationParams& params) const {
  if (params.constraint != nullptr) return {};
  Chosen chosen(vocab_);
  chosen.Add(always_);
  AddNamed(params, chosen);
  std::vector<int> part;
  for (size_t begin = 0; begin < source.size(); ++begin) {
    part.clear();
    const size_t most = std::min(longest_, source.size() - begin);
    for (size_t i = 0; i < most; ++i) {
      part.push_back(source[begin + i]);
      const auto found = targets_.find(part);
      if (found != targets_.end()) chosen.Add(found->second);
    }
  }
  std::vector<int> ids = chosen.Ascending();
  // An empty list would mean all tokens.
  return ids.empty() ? std::vector<int>{0} : ids;
}

}  // namespace attend
