#include "server/scheduler/participants.h"

#include <algorithm>
#include <cstddef>

namespace attend {

void Participants::Reserve(int tenants) {
  wants_.reserve(tenants);
  running_.reserve(tenants);
  admitted_.reserve(tenants);
  chosen_.reserve(tenants);
}

void Participants::Count(absl::Span<const RequestView> waiting,
                         absl::Span<const RequestView> running,
                         absl::Span<const TenantView> tenants) {
  waiting_ = waiting;
  tenants_ = tenants;
  wants_.assign(tenants.size(), {});
  running_.assign(tenants.size(), 0);
  ForgetAdmitted();
  for (const RequestView& view : running) {
    ++running_[view.tenant];
    Wants& wants = wants_[view.tenant];
    (view.work.phase == Phase::kDecode ? wants.decode_rows
                                       : wants.prompt_rows) += view.work.rows;
  }
  for (const RequestView& view : waiting) {
    Wants& wants = wants_[view.tenant];
    // Further requests may begin later, when these have ended.
    if (running_[view.tenant] + wants.waiting >=
        tenants[view.tenant].max_running) {
      continue;
    }
    wants.order =
        wants.waiting == 0 ? view.order : std::min(wants.order, view.order);
    wants.waiting += 1;
    wants.prompt_rows += view.work.rows;
  }
  present_ = 0;
  total_weight_ = 0;
  for (size_t t = 0; t < tenants.size(); ++t) {
    if (wants_[t].waiting + running_[t] == 0) continue;
    ++present_;
    total_weight_ += tenants[t].weight;
  }
}

void Participants::ForgetAdmitted() { admitted_.assign(tenants_.size(), 0); }

void Participants::Choose(const StepCost& cost, int max_rows) {
  ChooseAll();
  if (present_ <= 1) return;
  int chosen = 0;
  for (size_t t = 0; t < tenants_.size(); ++t) {
    const Wants& wants = wants_[t];
    const double owed = tenants_[t].owed;
    chosen_[t] = wants.waiting + running_[t] > 0 && owed > 0 &&
                 owed >= cost.Seconds(std::min(wants.decode_rows, max_rows),
                                      std::min(wants.prompt_rows, max_rows));
    chosen += chosen_[t];
  }
  all_ = chosen == present_;
  if (chosen == 0) ChooseAll();
}

void Participants::ChooseAll() {
  all_ = true;
  chosen_.assign(tenants_.size(), 1);
}

int Participants::decode_rows() const {
  int rows = 0;
  for (size_t t = 0; t < wants_.size(); ++t) {
    if (chosen_[t]) rows += wants_[t].decode_rows;
  }
  return rows;
}

const RequestView* Participants::FirstNewcomer(
    absl::Time now, int64_t aging_microseconds) const {
  const int tenant = Next();
  const RequestView* first = nullptr;
  int64_t highest = 0;
  for (const RequestView& view : waiting_) {
    if (view.tenant != tenant) continue;
    const int64_t level = LevelOf(view, now, aging_microseconds);
    if (first == nullptr || level > highest ||
        (level == highest && view.order < first->order)) {
      first = &view;
      highest = level;
    }
  }
  return first;
}

int Participants::Next() const {
  int next = -1;
  for (int t = 0; t < static_cast<int>(wants_.size()); ++t) {
    if (wants_[t].waiting == 0 || !chosen_[t]) continue;
    if (next < 0 || IsBefore(t, next)) next = t;
  }
  return next;
}

bool Participants::IsBefore(int tenant, int other) const {
  const double served = tenants_[tenant].served - tenants_[other].served;
  if (served != 0) return served < 0;
  if (running_[tenant] != running_[other]) {
    return running_[tenant] < running_[other];
  }
  return wants_[tenant].order < wants_[other].order;
}

}  // namespace attend
