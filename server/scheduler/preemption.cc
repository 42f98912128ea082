#include "server/scheduler/preemption.h"

#include <algorithm>
#include <initializer_list>

namespace attend {
namespace {

Room HeldBy(const RequestView& view) {
  return {.places = 1,
          .blocks = view.held_blocks,
          .encode_rows = view.held_encode_rows};
}

void Add(const Room& room, int times, Room& sum) {
  sum.places += times * room.places;
  sum.blocks += times * room.blocks;
  sum.encode_rows += times * room.encode_rows;
}

}  // namespace

void Preemption::Reserve(int max_running, int tenants) {
  chosen_.reserve(max_running);
  gone_.reserve(max_running);
  held_.reserve(tenants);
}

void Preemption::Begin(absl::Span<const RequestView> running,
                       absl::Span<const TenantView> tenants, absl::Time now,
                       int64_t aging_microseconds) {
  running_ = running;
  tenants_ = tenants;
  now_ = now;
  aging_microseconds_ = aging_microseconds;
  chosen_.clear();
  gone_.assign(running.size(), 0);
  held_.assign(tenants.size(), {});
  oldest_ = -1;
  for (int i = 0; i < static_cast<int>(running.size()); ++i) {
    Add(HeldBy(running[i]), 1, held_[running[i].tenant]);
    if (oldest_ < 0 || running[i].order < running[oldest_].order) oldest_ = i;
  }
}

bool Preemption::GoesBefore(int victim, int other, int Room::*resource) const {
  const RequestView& a = running_[victim];
  const RequestView& b = running_[other];
  // Compares held / weight of both, without division.
  const int64_t a_holds = static_cast<int64_t>(held_[a.tenant].*resource) *
                          tenants_[b.tenant].weight;
  const int64_t b_holds = static_cast<int64_t>(held_[b.tenant].*resource) *
                          tenants_[a.tenant].weight;
  if (a_holds != b_holds) return a_holds > b_holds;
  const int64_t a_level = LevelOf(a, now_, aging_microseconds_);
  const int64_t b_level = LevelOf(b, now_, aging_microseconds_);
  return a_level != b_level ? a_level < b_level : a.order > b.order;
}

bool Preemption::Share::Covers(int64_t held, int weight) const {
  return held * weights <= all * weight;
}

int Preemption::Victim(int Room::*resource, const Share& share,
                       bool holding) const {
  int victim = -1;
  for (int i = 0; i < static_cast<int>(running_.size()); ++i) {
    const RequestView& view = running_[i];
    if (gone_[i] || i == oldest_) continue;
    if (share.Covers(held_[view.tenant].*resource,
                     tenants_[view.tenant].weight) ||
        (holding && HeldBy(view).*resource == 0)) {
      continue;
    }
    if (victim < 0 || GoesBefore(i, victim, resource)) victim = i;
  }
  return victim;
}

void Preemption::Choose(int victim) {
  gone_[victim] = 1;
  chosen_.push_back(victim);
  Add(HeldBy(running_[victim]), -1, held_[running_[victim].tenant]);
}

void Preemption::TakeBack() {
  const int victim = chosen_.back();
  chosen_.pop_back();
  gone_[victim] = 0;
  Add(HeldBy(running_[victim]), 1, held_[running_[victim].tenant]);
}

void Preemption::ForMemory(const Participants& participants, int free_blocks) {
  int64_t needed = 0;
  for (const RequestView& view : running_) {
    if (participants.Has(view)) needed += view.work.blocks;
  }
  int64_t room = free_blocks;
  while (needed > room) {
    // Blocks that several requests share are not counted for any of them, but
    // are free when all of them are gone.
    const int victim = Victim(&Room::blocks, kNothing, /*holding=*/false);
    if (victim < 0) return;
    Choose(victim);
    const RequestView& view = running_[victim];
    if (participants.Has(view)) needed -= view.work.blocks;
    room += view.held_blocks;
  }
}

bool Preemption::ForNewcomer(const RequestView& newcomer,
                             const MemoryView& memory, int max_running,
                             int total_weight) {
  Admission admission(running_, gone_, memory, max_running);
  const Room all = {.places = max_running,
                    .blocks = memory.total_blocks,
                    .encode_rows = memory.total_encode_rows};
  const Room wanted = Admission::Wanted(newcomer);
  const size_t before = chosen_.size();
  for (int Room::*resource :
       {&Room::places, &Room::blocks, &Room::encode_rows}) {
    const Share share = {.all = all.*resource, .weights = total_weight};
    const bool modest =
        share.Covers(wanted.*resource, tenants_[newcomer.tenant].weight);
    while (!modest ||
           admission.Missing(newcomer, /*favoured=*/true).*resource > 0) {
      const int victim =
          modest ? Victim(resource, share, /*holding=*/true) : -1;
      if (victim < 0) {
        while (chosen_.size() > before) TakeBack();
        return false;
      }
      Choose(victim);
      admission.Release(running_[victim]);
    }
  }
  return true;
}

}  // namespace attend
