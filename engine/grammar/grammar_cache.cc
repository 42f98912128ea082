#include "engine/grammar/grammar_cache.h"

#include <utility>

namespace attend {

std::shared_ptr<const CompiledGrammar> GrammarCache::Find(
    absl::string_view key) {
  MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  const std::list<Entry>::iterator entry = found->second;
  if (entry->grammar->failed()) {
    by_key_.erase(found);
    entries_.erase(entry);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->grammar;
}

void GrammarCache::Add(std::string key,
                       std::shared_ptr<const CompiledGrammar> grammar) {
  MutexLock lock(mutex_);
  if (by_key_.contains(key)) return;  // another thread compiled it, too
  entries_.push_front({std::move(key), std::move(grammar)});
  by_key_.emplace(entries_.front().key, entries_.begin());
  size_t bytes = 0;
  size_t kept = 0;
  for (const Entry& entry : entries_) {
    bytes += entry.key.size() + entry.grammar->bytes();
    if (bytes > limits_.bytes || kept == limits_.entries) break;
    ++kept;
  }
  while (entries_.size() > kept) {
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

size_t GrammarCache::size() const {
  MutexLock lock(mutex_);
  return entries_.size();
}

}  // namespace attend
