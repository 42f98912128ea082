// Batcher and ledger, step by step.

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "server/scheduler/batcher.h"
#include "server/scheduler/tenant_ledger.h"
#include "tests/server/scheduler/request_views.h"

namespace attend {
namespace {

// Tenants that always have requests waiting get work in proportion to their
// weights. As in the paper the difference stays within a bound that does not
// grow with time: twice what may run at once.
class BackloggedTest : public testing::TestWithParam<int> {};

TEST_P(BackloggedTest, ServiceIsInProportionToWeights) {
  constexpr int kTenants = 4;
  constexpr int kPlaces = 16;
  constexpr int kMostRows = 40;
  constexpr int kMostTokens = 30;
  std::mt19937 random(GetParam());
  const auto uniform = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Batcher batcher({.max_rows = 256, .max_running = kPlaces});
  StepCost cost;
  TenantLedger ledger(100);
  absl::Time now = kNow;
  struct Entry {
    RequestView view;
    int tokens;
  };
  std::vector<Entry> waiting, running;
  std::vector<int> weights, lengths;
  std::vector<int> in_queue(kTenants);
  for (int t = 0; t < kTenants; ++t) {
    weights.push_back(uniform(1, 4));
    lengths.push_back(uniform(2, kMostTokens));  // tenants differ
  }
  int64_t order = 0;
  const auto arrive = [&](int t) {
    RequestView view = Newcomer(order++, uniform(1, kMostRows));
    view.tenant = ledger.Arrive({.id = uint64_t(t) + 7, .weight = weights[t]});
    ASSERT_EQ(view.tenant, t);
    view.arrival = now;
    view.priority = uniform(-3, 3);
    waiting.push_back({view, uniform(1, lengths[t])});
    ++in_queue[t];
  };
  const double row = 50e-6, fixed = 1e-3;
  // What a tenant of weight 1 that has all places gets of them.
  const double bound =
      2 * (kPlaces * row * kMostRows + kMostTokens * (fixed + kPlaces * row));
  for (int step = 0; step < 5000; ++step) {
    for (int t = 0; t < kTenants; ++t) {
      while (in_queue[t] < 3 || (uniform(0, 9) == 0 && in_queue[t] < 20)) {
        arrive(t);
      }
    }
    std::vector<RequestView> waiting_views, running_views;
    for (const Entry& entry : waiting) waiting_views.push_back(entry.view);
    for (const Entry& entry : running) running_views.push_back(entry.view);
    const Decision& plan = batcher.Plan(waiting_views, running_views, kPlenty,
                                        cost, now, ledger.views());
    ledger.BeginStep(plan.joint);
    const absl::Duration took =
        absl::Seconds(fixed + row * (plan.decode_rows + plan.prompt_rows));
    const auto compute = [&](Entry& entry, int rows) {
      const bool decodes = entry.view.work.phase == Phase::kDecode;
      ledger.AddRows(entry.view.tenant, decodes ? rows : 0, decodes ? 0 : rows);
      if (decodes) {
        --entry.tokens;
        entry.view.has_decoded = true;
      } else if ((entry.view.work.rows -= rows) == 0) {
        entry.view.work = {.phase = Phase::kDecode, .rows = 1};
      }
    };
    for (const auto [index, rows] : plan.running) compute(running[index], rows);
    for (const int index : plan.preempted) {
      // Again from the front.
      Entry entry = running[index];
      entry.view.work = Newcomer(0, kMostRows).work;
      ledger.Return(entry.view.tenant);
      ++in_queue[entry.view.tenant];
      waiting.push_back(entry);
      running[index].tokens = -1;
    }
    for (const auto [index, rows] : plan.admitted) {
      ledger.Admit(waiting[index].view.tenant);
      --in_queue[waiting[index].view.tenant];
      running.push_back(waiting[index]);
      compute(running.back(), rows);
      waiting[index].tokens = -1;
    }
    std::erase_if(waiting, [](const Entry& entry) { return entry.tokens < 0; });
    std::erase_if(running, [&](const Entry& entry) {
      if (entry.tokens == 0) ledger.End(entry.view.tenant, false);
      return entry.tokens <= 0;
    });
    now += took;
    cost.Observe(plan.decode_rows, plan.prompt_rows, took);
    ledger.EndStep(cost, took);
    double least = ledger.views()[0].served, most = least;
    for (const TenantView& view : ledger.views()) {
      least = std::min(least, view.served);
      most = std::max(most, view.served);
    }
    ASSERT_LE(most - least, bound) << "step " << step;
  }
  EXPECT_GT(ledger.views()[0].served, 4 * bound) << "too short to tell";
}

INSTANTIATE_TEST_SUITE_P(Seeds, BackloggedTest, testing::Range(1, 9));

}  // namespace
}  // namespace attend
