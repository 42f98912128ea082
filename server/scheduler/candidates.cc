#include "server/scheduler/candidates.h"

#include <algorithm>

namespace attend {

bool Candidates::Group::operator<(const Group& other) const {
  if (served != other.served) return served > other.served;
  if (running != other.running) return running > other.running;
  return order > other.order;
}

void Candidates::Reserve(int requests, int tenants) {
  all_.reserve(requests);
  grouped_.reserve(requests);
  ends_.reserve(tenants);
  groups_.reserve(tenants);
}

void Candidates::Arrange(absl::Span<const TenantView> tenants,
                         absl::Span<const int> running) {
  left_ = all_.size();
  has_current_ = false;
  groups_.clear();
  ends_.assign(tenants.size(), 0);
  for (const Candidate& candidate : all_) ++ends_[candidate.tenant];
  size_t begin = 0;
  for (size_t t = 0; t < tenants.size(); ++t) {
    const size_t end = begin + ends_[t];
    if (end > begin) {
      groups_.push_back({.served = tenants[t].served,
                         .weight = tenants[t].weight,
                         .running = running[t],
                         .begin = begin,
                         .end = end});
    }
    ends_[t] = begin;
    begin = end;
  }
  grouped_.resize(all_.size());
  for (const Candidate& candidate : all_) {
    grouped_[ends_[candidate.tenant]++] = candidate;
  }
  for (Group& group : groups_) {
    group.order = grouped_[group.begin].order;
    for (size_t i = group.begin; i < group.end; ++i) {
      group.order = std::min(group.order, grouped_[i].order);
    }
    std::make_heap(grouped_.begin() + group.begin,
                   grouped_.begin() + group.end);
  }
  std::make_heap(groups_.begin(), groups_.end());
}

Candidate Candidates::Pop() {
  if (has_current_) {
    if (groups_.back().begin == groups_.back().end) {
      groups_.pop_back();
    } else {
      std::push_heap(groups_.begin(), groups_.end());
    }
  }
  std::pop_heap(groups_.begin(), groups_.end());
  has_current_ = true;
  Group& group = groups_.back();
  std::pop_heap(grouped_.begin() + group.begin, grouped_.begin() + group.end);
  --left_;
  return grouped_[--group.end];
}

void Candidates::DropWaiting() {
  Group& group = groups_.back();
  const auto begin = grouped_.begin() + group.begin;
  const auto end = std::partition(
      begin, grouped_.begin() + group.end,
      [](const Candidate& candidate) { return !candidate.is_waiting; });
  const size_t kept = end - begin;
  left_ -= group.end - group.begin - kept;
  group.end = group.begin + kept;
  std::make_heap(begin, end);
}

void Candidates::Charge(double seconds) {
  groups_.back().served += seconds / groups_.back().weight;
}

}  // namespace attend
