#include "client/cpp/lib/replay.h"

#include <algorithm>
#include <optional>
#include <random>

namespace attend {
namespace {

absl::Status AnotherText() {
  return absl::UnavailableError(
      "the stream broke off, and has another text when it is made again");
}

// How many of the next elements are among those that have been seen, from `at`
// on. The others are added to them. nullopt: they are not the same.
template <class Seen, class Next>
std::optional<size_t> Advance(const Next& next, Seen& seen, size_t& at) {
  const size_t size = next.size();
  const size_t known = std::min(seen.size() - at, size);
  const auto middle = next.begin() + known;
  if (!std::equal(next.begin(), middle, seen.begin() + at)) return std::nullopt;
  seen.insert(seen.end(), middle, next.end());
  at += size;
  return known;
}

template <class Repeated>
void RemoveFirst(size_t count, Repeated& repeated) {
  repeated.erase(repeated.begin(), repeated.begin() + count);
}

}  // namespace

void Replay::Begin() {
  for (auto& [place, result] : results_) result.text_at = result.ids_at = 0;
}

absl::StatusOr<bool> Replay::Next(v1::GenerateChunk& chunk) {
  const auto [place, is_first] =
      results_.try_emplace({chunk.input(), chunk.choice()});
  Result& result = place->second;
  const auto known_text = Advance(chunk.text(), result.text, result.text_at);
  const auto known_ids = Advance(chunk.ids(), result.ids, result.ids_at);
  if (!known_text.has_value() || !known_ids.has_value()) return AnotherText();
  if (ended_.count(chunk.input()) > 0) return false;

  chunk.mutable_text()->erase(0, *known_text);
  if (chunk.log_probs_size() == chunk.ids_size()) {
    RemoveFirst(*known_ids, *chunk.mutable_log_probs());
  }
  RemoveFirst(*known_ids, *chunk.mutable_ids());
  if (!is_first) chunk.clear_prompt();
  if (result.finished) chunk.clear_finish_reason();
  result.finished = result.finished || chunk.finish_reason() != 0;
  if (chunk.has_status()) ended_.insert(chunk.input());
  return is_first || !chunk.text().empty() || chunk.ids_size() > 0 ||
         chunk.finish_reason() != 0 || chunk.has_status();
}

absl::StatusOr<bool> Replay::Next(v1::TranslateChunk& chunk) {
  Result& result = results_[{chunk.document(), 0}];
  const auto known = Advance(chunk.text(), result.text, result.text_at);
  if (!known.has_value()) return AnotherText();
  if (ended_.count(chunk.document()) > 0) return false;
  chunk.mutable_text()->erase(0, *known);
  if (chunk.has_status()) ended_.insert(chunk.document());
  return !chunk.text().empty() || chunk.has_status();
}

absl::Status Replay::End() const {
  const auto is_short = [](const auto& each) {
    const Result& result = each.second;
    return result.text_at < result.text.size() ||
           result.ids_at < result.ids.size();
  };
  const bool any = std::any_of(results_.begin(), results_.end(), is_short);
  return any ? AnotherText() : absl::OkStatus();
}

void SetSeed(v1::GenerationParams& params) {
  if (params.has_seed()) return;
  std::random_device random;
  params.set_seed(std::uniform_int_distribution<uint64_t>()(random));
}

}  // namespace attend
