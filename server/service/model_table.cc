#include "server/service/model_table.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

template <class Places>
auto FindPlace(Places& places, absl::string_view name) {
  return std::find_if(places.begin(), places.end(), [&](const auto& place) {
    return name.empty() || place.name == name;
  });
}

}  // namespace

// Whoever gives a share back may have to free a model. That happens without the
// lock.
void ModelTable::Put(SharedModel model) {
  MutexLock lock(mutex_);
  const auto found = FindPlace(places_, model->name);
  if (found == places_.end()) {
    const std::string name = model->name;
    places_.push_back({name, std::move(model), ++uses_});
    return;
  }
  found->last_use = ++uses_;
  found->model.swap(model);
  lock.unlock();
}

bool ModelTable::Remove(absl::string_view name) {
  SharedModel removed;
  MutexLock lock(mutex_);
  const auto found = FindPlace(places_, name);
  if (found != places_.end()) removed.swap(found->model);
  lock.unlock();
  return removed != nullptr;
}

void ModelTable::Clear() {
  std::vector<Place> removed;
  MutexLock lock(mutex_);
  removed.swap(places_);
  lock.unlock();
}

absl::Status ModelTable::SetAlias(ModelAlias alias) {
  MutexLock lock(mutex_);
  const auto known = aliases_.find(alias.name);
  if (alias.targets.empty()) {
    if (known == aliases_.end()) {
      return absl::NotFoundError(absl::StrCat(
          "there is no alias '", absl::CHexEscape(alias.name), "'"));
    }
    aliases_.erase(known);
    for (const Place& place : places_) {
      if (place.model == nullptr || !place.model->served.ok()) continue;
      place.model->served->metrics.ForgetAlias(alias.name);
    }
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(alias.CheckTargets());
  for (const AliasTarget& target : alias.targets) {
    if (!target.model.empty() && FindHere(target.model) != nullptr) continue;
    return absl::NotFoundError(
        absl::StrCat("alias '", absl::CHexEscape(alias.name), "' names model '",
                     absl::CHexEscape(target.model.substr(0, 100)),
                     "', which is not ", "served"));
  }
  if (known == aliases_.end() && aliases_.size() >= kMaxAliases) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", kMaxAliases, " aliases, no more may be"));
  }
  aliases_[alias.name].targets = std::move(alias.targets);
  return absl::OkStatus();
}

std::vector<ModelAlias> ModelTable::Aliases() const {
  std::vector<ModelAlias> all;
  MutexLock lock(mutex_);
  all.reserve(aliases_.size());
  for (const auto& [name, alias] : aliases_) {
    all.push_back({.name = name, .targets = alias.targets});
  }
  return all;
}

std::string ModelTable::DefaultName() const {
  MutexLock lock(mutex_);
  return places_.empty() ? "" : places_.front().name;
}

SharedModel ModelTable::Choose(absl::string_view name) const {
  MutexLock lock(mutex_);
  const auto alias = aliases_.find(name);
  const bool is_alias = alias != aliases_.end();
  const Place* const place =
      is_alias ? ChooseTarget(alias->second) : FindHere(name);
  if (place == nullptr) return nullptr;
  place->last_use = ++uses_;
  const SharedModel& chosen = place->model;
  // Under the lock: an alias that is removed meanwhile would come back.
  if (is_alias && chosen->served.ok()) {
    chosen->served->metrics.OnAlias(alias->first, chosen->version);
  }
  return chosen;
}

const ModelTable::Place* ModelTable::ChooseTarget(const Alias& alias) const {
  absl::InlinedVector<int, ModelAlias::kMaxTargets> weights;
  absl::InlinedVector<const Place*, ModelAlias::kMaxTargets> places;
  bool any_ready = false;
  for (const AliasTarget& target : alias.targets) {
    const Place* const place = FindHere(target.model);
    const bool ready = place != nullptr && place->model->ready();
    weights.push_back(ready ? target.weight : 0);
    places.push_back(place);
    any_ready |= ready;
  }
  if (any_ready) return places[PickTarget(weights, alias.calls++)];
  const auto there =
      std::find_if(places.begin(), places.end(),
                   [](const Place* place) { return place != nullptr; });
  return there == places.end() ? nullptr : *there;
}

SharedModel ModelTable::Find(absl::string_view name) const {
  MutexLock lock(mutex_);
  const Place* const place = FindHere(name);
  return place == nullptr ? nullptr : place->model;
}

const ModelTable::Place* ModelTable::FindHere(absl::string_view name) const {
  const auto found = FindPlace(places_, name);
  return found == places_.end() || found->model == nullptr ? nullptr : &*found;
}

// Shares are taken under the lock, so nobody takes one meanwhile.
SharedModel ModelTable::RemoveIdle(absl::string_view except) {
  SharedModel removed;
  MutexLock lock(mutex_);
  Place* oldest = nullptr;
  for (Place& place : places_) {
    if (place.model == nullptr || place.model.use_count() > 1 ||
        !place.model->served.ok() || place.name == except) {
      continue;
    }
    if (oldest == nullptr || place.last_use < oldest->last_use) {
      oldest = &place;
    }
  }
  if (oldest != nullptr) removed.swap(oldest->model);
  lock.unlock();
  return removed;
}

std::vector<SharedModel> ModelTable::All() const {
  std::vector<SharedModel> all;
  MutexLock lock(mutex_);
  for (const Place& place : places_) {
    if (place.model != nullptr) all.push_back(place.model);
  }
  return all;
}

}  // namespace attend
