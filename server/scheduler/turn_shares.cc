#include "server/scheduler/turn_shares.h"

#include <algorithm>

namespace attend {
namespace {

// Each step is charged at least this, so that no model goes on for ever with
// steps that have nothing to compute.
constexpr double kLeastSeconds = 1e-5;

bool HasLessId(const TurnClaim& a, const TurnClaim& b) {
  return a.tenant < b.tenant;
}

}  // namespace

int TurnShares::Add(size_t max_claims) {
  auto place = std::find_if(models_.begin(), models_.end(),
                            [](const Model& model) { return !model.is_used; });
  if (place == models_.end()) place = models_.emplace(place);
  place->is_used = true;
  place->claims.reserve(max_claims);
  return static_cast<int>(place - models_.begin());
}

void TurnShares::Remove(int model) { models_[model] = {}; }

void TurnShares::SetClaims(int model, absl::Span<const TurnClaim> claims) {
  std::vector<TurnClaim>& own = models_[model].claims;
  own.assign(claims.begin(), claims.end());
  std::sort(own.begin(), own.end(), HasLessId);
}

void TurnShares::Ask(int model) {
  models_[model].asks = true;
  models_[model].order = asked_++;
  models_[model].given = std::max(models_[model].given, floor_);
}

bool TurnShares::IsBefore(const Model& a, const Model& b) {
  return a.given != b.given ? a.given < b.given : a.order < b.order;
}

int TurnShares::Next() const {
  const Model* next = nullptr;
  for (const Model& model : models_) {
    if (!model.asks) continue;
    if (next == nullptr || IsBefore(model, *next)) next = &model;
  }
  return next == nullptr ? -1 : static_cast<int>(next - models_.data());
}

void TurnShares::Begin(int model) {
  models_[model].asks = false;
  floor_ = std::max(floor_, models_[model].given);
}

void TurnShares::End(int number, double seconds) {
  Model& model = models_[number];
  model.given += std::max(seconds, kLeastSeconds) / WeightOf(model);
}

bool TurnShares::GoesOn(int model) const {
  return std::none_of(models_.begin(), models_.end(), [&](const Model& other) {
    return other.asks && other.given <= models_[model].given;
  });
}

bool TurnShares::Has(const Model& model, uint64_t tenant) {
  return std::binary_search(model.claims.begin(), model.claims.end(),
                            TurnClaim{.tenant = tenant}, HasLessId);
}

int TurnShares::models_of(uint64_t tenant) const {
  return static_cast<int>(
      std::count_if(models_.begin(), models_.end(),
                    [&](const Model& model) { return Has(model, tenant); }));
}

double TurnShares::WeightOf(const Model& model) const {
  double weight = 0;
  for (const TurnClaim& claim : model.claims) {
    weight += 1.0 * claim.weight / models_of(claim.tenant);
  }
  return weight > 0 ? weight : 1;
}

}  // namespace attend
