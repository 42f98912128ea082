#include "server/documents/find_language.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "engine/tensor/mutex.h"
#include "server/documents/language_groups.h"
#include "server/documents/language_tag.h"

namespace attend {
namespace {

// The tags of the codes of models, which are read for every request that
// spells a language in another way: reading one takes microseconds, and a model
// may have 200. Thread-safe.
class KnownTags {
 public:
  static KnownTags& Get() {
    static auto& tags = *new KnownTags();
    return tags;
  }

  std::optional<LanguageTag> Read(const std::string& code) {
    const MutexLock lock(mutex_);
    const auto found = tags_.find(code);
    if (found != tags_.end()) return found->second;
    std::optional<LanguageTag> tag = ReadLanguageTag(code);
    if (tags_.size() < kMostTags) tags_.emplace(code, tag);
    return tag;
  }

 private:
  static constexpr size_t kMostTags = 10000;

  Mutex mutex_;
  absl::flat_hash_map<std::string, std::optional<LanguageTag>> tags_
      ABSL_GUARDED_BY(mutex_);
};

// A code of the model.
struct Entry {
  const std::string* code;
  LanguageTag tag;
};
using Entries = std::vector<const Entry*>;

Entries Where(const std::vector<Entry>& entries,
              absl::FunctionRef<bool(const LanguageTag&)> is) {
  Entries found;
  for (const Entry& entry : entries) {
    if (is(entry.tag)) found.push_back(&entry);
  }
  return found;
}

// True unless both scripts are known and differ.
bool SameScript(const LanguageTag& a, const LanguageTag& b) {
  return a.script.empty() || b.script.empty() || a.script == b.script;
}

// The only entry for which `is` is true; null: there is none, or several.
const Entry* Only(const Entries& entries,
                  absl::FunctionRef<bool(const LanguageTag&)> is) {
  const Entry* only = nullptr;
  for (const Entry* entry : entries) {
    if (!is(entry->tag)) continue;
    if (only != nullptr) return nullptr;
    only = entry;
  }
  return only;
}

// Of entries of the wanted language and script, that of the wanted region. A
// code without a region wants an entry without one before that of its likely
// region.
const Entry* InRegion(const LanguageTag& wanted, const Entries& entries) {
  if (entries.size() == 1) return entries.front();
  const auto same = [&](const LanguageTag& tag) {
    return !tag.region.empty() && tag.region == wanted.likely_region;
  };
  const auto none = [](const LanguageTag& tag) { return tag.region.empty(); };
  const Entry* const in_region = Only(entries, same);
  const Entry* const in_none = Only(entries, none);
  const bool prefers_none = wanted.region.empty();
  if (prefers_none ? in_none != nullptr : in_region == nullptr) return in_none;
  return in_region;
}

const Entry* Match(const LanguageTag& wanted,
                   const std::vector<Entry>& entries) {
  const auto in_script = [&](absl::FunctionRef<bool(const LanguageTag&)> is) {
    const Entries found = Where(entries, [&](const LanguageTag& tag) {
      return is(tag) && SameScript(wanted, tag);
    });
    return InRegion(wanted, found);
  };
  const auto spelled = [&](const LanguageTag& tag) {
    return tag.language == wanted.language;
  };
  const auto canonical = [&](const LanguageTag& tag) {
    return tag.canonical == wanted.canonical;
  };
  const auto member = [&](const LanguageTag& tag) {
    return IsMember(tag, wanted.language) || IsMember(tag, wanted.canonical);
  };
  if (const Entry* found = in_script(spelled)) return found;
  if (const Entry* found = in_script(canonical)) return found;
  if (const Entry* found = in_script(member)) return found;
  const Entries alone = Where(entries, canonical);
  return alone.size() == 1 ? alone.front() : nullptr;
}

// True for codes that differ in case and separators only.
bool SameLetters(absl::string_view a, absl::string_view b) {
  const auto letter = [](char c) {
    return c == '_' ? '-' : absl::ascii_tolower(c);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return letter(x) == letter(y); });
}

}  // namespace

std::string FindLanguage(absl::string_view code,
                         const std::vector<std::string>& languages) {
  for (const std::string& language : languages) {
    if (language == code) return language;
  }
  for (const std::string& language : languages) {
    if (SameLetters(language, code)) return language;
  }
  const std::optional<LanguageTag> wanted = ReadLanguageTag(code);
  if (!wanted) return "";
  std::vector<Entry> entries;
  for (const std::string& language : languages) {
    std::optional<LanguageTag> tag = KnownTags::Get().Read(language);
    if (tag) entries.push_back({&language, *std::move(tag)});
  }
  if (const Entry* found = Match(*wanted, entries)) return *found->code;
  for (const Entry& entry : entries) {
    if (IsInGroup(*wanted, entry.tag.language)) return *entry.code;
  }
  return "";
}

bool SameLanguage(absl::string_view a, absl::string_view b) {
  if (a == b) return true;
  const auto first = ReadLanguageTag(a);
  const auto second = ReadLanguageTag(b);
  return first && second && first->canonical == second->canonical &&
         first->script == second->script &&
         (first->region.empty() || second->region.empty() ||
          first->region == second->region);
}

}  // namespace attend
