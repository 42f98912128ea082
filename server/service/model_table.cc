#include "server/service/model_table.h"

#include <algorithm>
#include <utility>

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
    places_.push_back({model->name, std::move(model)});
    return;
  }
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

SharedModel ModelTable::Find(absl::string_view name) const {
  MutexLock lock(mutex_);
  const auto found = FindPlace(places_, name);
  return found == places_.end() ? nullptr : found->model;
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
