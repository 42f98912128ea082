#ifndef ATTEND_ENGINE_GRAMMAR_GRAMMAR_CACHE_H_
#define ATTEND_ENGINE_GRAMMAR_GRAMMAR_CACHE_H_

#include <cstddef>
#include <list>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "engine/grammar/compiled_grammar.h"
#include "engine/tensor/mutex.h"

namespace attend {

// The compiled grammars that were used last. They grow while they are used, so
// their bytes are added up again whenever one is added. Thread-safe.
class GrammarCache {
 public:
  struct Limits {
    size_t entries = 64;
    size_t bytes = 64 << 20;
  };
  explicit GrammarCache(const Limits& limits) : limits_(limits) {}

  // Null if there is none, or if it failed since it was added.
  std::shared_ptr<const CompiledGrammar> Find(absl::string_view key);
  // Afterwards those used longest ago are dropped until the others are within
  // the limits. Requests keep what they use.
  void Add(std::string key, std::shared_ptr<const CompiledGrammar> grammar);

  size_t size() const;

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const CompiledGrammar> grammar;
  };

  const Limits limits_;
  mutable Mutex mutex_;
  // Used last first.
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<absl::string_view, std::list<Entry>::iterator> by_key_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace attend

#endif  // ATTEND_ENGINE_GRAMMAR_GRAMMAR_CACHE_H_
