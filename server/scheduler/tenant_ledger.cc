#include "server/scheduler/tenant_ledger.h"

#include <algorithm>
#include <limits>

namespace attend {
TenantLedger::TenantLedger(int max_requests) : max_accounts_(max_requests) {
  accounts_.reserve(max_accounts_);
  views_.reserve(max_accounts_);
}

int TenantLedger::Find(uint64_t id) {
  const double floor = Floor();
  size_t least = accounts_.size();  // of those without requests
  for (size_t i = 0; i < accounts_.size(); ++i) {
    const Account& account = accounts_[i];
    if (account.id == id) return static_cast<int>(i);
    if (account.waiting + account.running > 0) continue;
    if (least == accounts_.size() || views_[i].served < views_[least].served) {
      least = i;
    }
  }
  const bool reuses =
      least < accounts_.size() &&
      (views_[least].served <= floor || absent() >= kMostAbsent ||
       accounts_.size() == max_accounts_);
  if (!reuses) {
    accounts_.emplace_back();
    views_.emplace_back();
    least = accounts_.size() - 1;
  }
  accounts_[least] = {.id = id, .round = -1};
  views_[least] = {};
  return static_cast<int>(least);
}

int TenantLedger::Arrive(const Tenant& tenant) {
  const int index = Find(tenant.id);
  Account& account = accounts_[index];
  TenantView& view = views_[index];
  view.weight = tenant.weight;
  view.max_running = tenant.max_running;
  if (account.waiting + account.running == 0) {
    ++present_;
    // As if it had been there, and been left out, since the last joint step.
    account.used = std::max(Used(account), seconds_since_ * WeightOf(index));
    account.round = round_;
    view.owed = std::max(0.0, most_ * WeightOf(index) - account.used);
  }
  Enqueue(index);
  return index;
}

void TenantLedger::AddClaims(std::vector<TurnClaim>& claims) const {
  for (size_t i = 0; i < accounts_.size(); ++i) {
    const Account& account = accounts_[i];
    if (account.waiting + account.running == 0) continue;
    claims.push_back({.tenant = account.id, .weight = views_[i].weight});
  }
}

// Both are in the order of the accounts, but some may have come or gone.
void TenantLedger::SetModels(absl::Span<const TurnClaim> claims) {
  for (Account& account : accounts_) {
    const auto claim = std::find_if(
        claims.begin(), claims.end(),
        [&account](const TurnClaim& one) { return one.tenant == account.id; });
    if (claim == claims.end()) continue;
    account.models = std::max(claim->models, 1);
    claims.remove_prefix(claim - claims.begin() + 1);
  }
}

void TenantLedger::Return(int tenant) {
  accounts_[tenant].running -= 1;
  Enqueue(tenant);
}

void TenantLedger::Admit(int tenant) {
  LeaveQueue(tenant);
  accounts_[tenant].running += 1;
}

void TenantLedger::End(int tenant, bool was_waiting) {
  Account& account = accounts_[tenant];
  if (was_waiting) {
    LeaveQueue(tenant);
  } else {
    account.running -= 1;
  }
  if (account.waiting + account.running > 0) return;
  views_[tenant].owed = 0;
  if (--present_ == 0) return Clear();
  // Indices stay what they are, so only the last ones can go.
  while (absent() > kMostAbsent &&
         accounts_.back().waiting + accounts_.back().running == 0) {
    accounts_.pop_back();
    views_.pop_back();
  }
}

void TenantLedger::Clear() {
  accounts_.clear();
  views_.clear();
  last_served_ = 0;
  most_ = 0;
  seconds_since_ = 0;
}

void TenantLedger::Enqueue(int tenant) {
  if (accounts_[tenant].waiting == 0) {
    views_[tenant].served = std::max(views_[tenant].served, Floor());
    ++waiting_;
  }
  accounts_[tenant].waiting += 1;
}

void TenantLedger::LeaveQueue(int tenant) {
  accounts_[tenant].waiting -= 1;
  if (accounts_[tenant].waiting > 0 || --waiting_ > 0) return;
  last_served_ = std::max(last_served_, views_[tenant].served);
}

double TenantLedger::Floor() const {
  if (waiting_ == 0) return last_served_;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < accounts_.size(); ++i) {
    if (accounts_[i].waiting > 0) least = std::min(least, views_[i].served);
  }
  return least;
}

double TenantLedger::Used(const Account& account) const {
  return account.round == round_ ? account.used : 0;
}

void TenantLedger::BeginStep(bool joint) {
  joint_ = joint;
  for (Account& account : accounts_) {
    account.decode_rows = account.prompt_rows = 0;
  }
}

void TenantLedger::AddRows(int tenant, int decode_rows, int prompt_rows) {
  accounts_[tenant].decode_rows += decode_rows;
  accounts_[tenant].prompt_rows += prompt_rows;
}

void TenantLedger::SpareRows(int tenant, int prompt_rows) {
  accounts_[tenant].prompt_rows -= prompt_rows;
}

TenantLedger::StepRows TenantLedger::SumRows() const {
  StepRows rows;
  for (const Account& account : accounts_) {
    rows.decodes += account.decode_rows;
    rows.prompts += account.prompt_rows;
    rows.tenants += account.decode_rows + account.prompt_rows > 0;
  }
  return rows;
}

TenantLedger::Parts TenantLedger::PartsOf(const Account& account,
                                          const StepRows& all,
                                          const StepCost& cost) const {
  const int decodes = account.decode_rows;
  const int prompts = account.prompt_rows;
  const double part = 1.0 * (decodes + prompts) / (all.decodes + all.prompts);
  if (all.tenants == 1) return {.alone = part, .share = part};
  const double estimate = cost.Seconds(all.decodes, all.prompts);
  const double of_rows = cost.RowSeconds(all.decodes, all.prompts);
  return {
      .alone = estimate > 0 ? cost.Seconds(decodes, prompts) / estimate : part,
      .share = of_rows > 0 ? cost.RowSeconds(decodes, prompts) / of_rows : part,
  };
}

void TenantLedger::EndStep(const StepCost& cost, absl::Duration duration) {
  const StepRows rows = SumRows();
  const double seconds = cost.WorkSeconds(rows.decodes, rows.prompts, duration);
  if (joint_) {
    ++round_;
    most_ = 0;
    seconds_since_ = 0;
  } else {
    seconds_since_ += seconds;
  }
  for (size_t i = 0; i < accounts_.size(); ++i) {
    Account& account = accounts_[i];
    if (account.decode_rows + account.prompt_rows == 0) continue;
    const Parts parts = PartsOf(account, rows, cost);
    account.used = Used(account) + seconds * parts.alone;
    account.round = round_;
    const double a_weight = seconds * parts.share / WeightOf(i);
    views_[i].served += a_weight;
    if (joint_) most_ = std::max(most_, a_weight);
  }
  for (size_t i = 0; i < accounts_.size(); ++i) {
    const Account& account = accounts_[i];
    TenantView& view = views_[i];
    view.owed = account.waiting + account.running == 0
                    ? 0
                    : std::max(0.0, most_ * WeightOf(i) - Used(account));
  }
}

}  // namespace attend
